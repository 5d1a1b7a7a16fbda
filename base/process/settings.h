// Configuration: a table of settings, filled from a TOML file and from flags, which override it.
//
//   struct NodeSettings { std::string listen = "127.0.0.1:7000"; Micros tick{250'000}; } node;
//   Settings settings;
//   settings.add("node.listen", node.listen, "address that clients and view managers connect to");
//   settings.add("node.tick", node.tick, "how often a region looks whether there is something to do");
//   const auto arguments = settings.parse(argc, argv);
//
// A setting is named alike in the file ([node] listen = "...") and as a flag (--node.listen ...). Its type is
// that of the variable, its default the variable's value when it is added. A name that is not in the table is
// refused, with the nearest one that is.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/units.h"
#include "base/result.h"
#include "base/types.h"

namespace tidemark {

class Settings {
 public:
  // What was on the command line beside settings.
  struct Arguments {
    std::vector<std::string> positional;
    bool help = false;          // --help was asked for: print help_text() and end.
    bool print_config = false;  // --print-config was: print example_file() and end.
  };

  // REQUIRES: the name is new, and the variable outlives this.
  void add(const std::string& name, bool& variable, const std::string& help);
  void add(const std::string& name, double& variable, const std::string& help);
  void add(const std::string& name, std::string& variable, const std::string& help);
  // In the file an array of strings, as a flag "a,b,c".
  void add(const std::string& name, std::vector<std::string>& variable, const std::string& help);
  void add(const std::string& name, Micros& variable, const std::string& help);
  void add(const std::string& name, ByteSize& variable, const std::string& help);
  template <std::unsigned_integral T>
  void add(const std::string& name, T& variable, const std::string& help) {
    add_integer(name, help, {.max = std::numeric_limits<T>::max(), .initial = variable},
                [&variable](uint64_t value) { variable = static_cast<T>(value); });
  }

  // Reads the file of `--config <file>`, if that is there, and then the other flags: `--name value`,
  // `--name=value`, `--name` alone for a bool; what follows `--` is positional. argv[0] is skipped.
  // Refused: a name that is not in the table, a value of another type or out of range; the reason says where.
  // Variables that were set before the refused one keep the new value.
  Result<Arguments> parse(int argc, const char* const* argv);

  // The same for a file alone.
  Status load_file(const std::string& path);

  // Two lines per setting: its flag and default, and what it is for.
  std::string help_text() const;

  // A configuration file with every setting at its default and what it is for.
  std::string example_file() const;

 private:
  enum class Kind : uint8_t { Boolean, Integer, Real, Text, Texts, Duration, Size };
  struct Setting {
    std::string name;
    Kind kind;
    std::string help;
    std::string shown_default;
    std::function<Status(std::span<const std::string>)> set;  // One text, except for Texts.
  };
  struct IntegerRange {
    uint64_t max;
    uint64_t initial;
  };
  struct Flag {
    const Setting* setting;
    std::string text;
  };
  struct CommandLine {
    Arguments arguments;
    std::string config;
    std::vector<Flag> flags;
  };

  void add_integer(const std::string& name, const std::string& help, IntegerRange range,
                   std::function<void(uint64_t)> set);
  void add_setting(Setting setting);
  const Setting* find(std::string_view name) const;
  std::string suggestion(std::string_view name) const;
  Result<CommandLine> read(std::span<const std::string> words) const;
  // Reads the flag that `words` begin with; returns how many of them it took.
  Result<size_t> read_flag(std::span<const std::string> words, CommandLine& line) const;
  static std::string_view name_of(Kind kind);

  std::vector<Setting> settings_;
};

}  // namespace tidemark
