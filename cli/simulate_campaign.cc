#include "cli/simulate_campaign.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sstream>

#include "base/assert.h"

namespace tidemark {
namespace {

// The next seed that nobody has begun: one number for all processes. No worker waits for another one.
class NextSeed {
 public:
  explicit NextSeed(uint64_t first) {
    void* memory = ::mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TM_ASSERT(memory != MAP_FAILED);
    number_ = new (memory) Number(first);
  }
  ~NextSeed() { ::munmap(number_, sizeof(Number)); }
  NextSeed(const NextSeed&) = delete;
  NextSeed& operator=(const NextSeed&) = delete;

  uint64_t take() { return number_->fetch_add(1); }

 private:
  using Number = std::atomic<uint64_t>;
  static_assert(Number::is_always_lock_free);
  Number* number_;
};

// One seed's report as lines: "kind<TAB>name<TAB>number"; "begin" first, and "end" last.
void write_counts(std::ostream& out, const char* kind, const sim::Tallies& counts) {
  for (const auto& [name, count] : counts) out << kind << '\t' << name << '\t' << count << '\n';
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

std::string seed_line(const char* kind, uint64_t seed) {
  return std::string(kind) + "\t\t" + std::to_string(seed) + '\n';
}

std::string encode(uint64_t seed, const sim::RunReport& report) {
  std::ostringstream out;
  for (const sim::Finding& finding : report.findings) {
    out << "finding\t" << one_line(finding.property) << '\t' << finding.at.value << '\t'
        << one_line(finding.what) << '\n';
  }
  write_counts(out, "work", report.work);
  write_counts(out, "change", report.changes);
  write_counts(out, "fault", report.faults);
  write_counts(out, "deviation", report.deviations);
  write_counts(out, "probe", report.probes);
  out << "hash\t\t" << report.state_hash << "\nsimulated\t\t" << report.simulated.value << '\n'
      << seed_line("end", seed);
  return out.str();
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count <= 0) ::_exit(1);
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// How a process that did not end by itself did; from its status, as waitpid() gives it.
std::string describe_death(int status, const CampaignOptions& options) {
  if (!WIFSIGNALED(status)) return "ended with code " + std::to_string(WEXITSTATUS(status));
  std::string out = "killed by signal " + std::to_string(WTERMSIG(status));
  if (WTERMSIG(status) == SIGALRM)
    out += " (it took longer than " + std::to_string(options.seed_seconds_max) + " s)";
  return out;
}

// Takes one seed after the other, and tells of each.
struct Worker {
  pid_t process = -1;
  int from = -1;
  std::optional<uint64_t> seed;  // That it is at.
  std::string unread;
  SeedResult result;
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::function<void(const SeedResult&)>& on_result)
      : options_(options),
        on_result_(on_result),
        workers_(static_cast<size_t>(options.jobs)),
        next_seed_(options.first_seed) {
    if (options.minutes) {
      deadline_ = std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(static_cast<int64_t>(*options.minutes * 60'000));
    }
  }

  void run() {
    for (Worker& worker : workers_) start(worker);
    while (std::any_of(workers_.begin(), workers_.end(), [](const Worker& one) { return one.process > 0; }))
      wait();
  }

 private:
  bool is_over() const { return stopped_ || (deadline_ && std::chrono::steady_clock::now() >= *deadline_); }

  void start(Worker& worker) {
    worker = {};
    if (is_over()) return;
    int ends[2];
    TM_ASSERT(::pipe(ends) == 0);
    std::fflush(nullptr);
    worker.process = ::fork();
    TM_ASSERT(worker.process >= 0);
    if (worker.process == 0) {
      ::close(ends[0]);
      work(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    worker.from = ends[0];
  }

  // In a process of its own, which nothing thrown may leave for the parent's code.
  void work(int to) noexcept {
    while (!is_over()) {
      const uint64_t seed = next_seed_.take();
      if (seed > options_.last_seed) return;
      write_all(to, seed_line("begin", seed));
      ::alarm(options_.seed_seconds_max);
      write_all(to, encode(seed, run_seed(options_, seed)));
    }
  }

  void wait() {
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) waiting.push_back({worker.from, POLLIN, 0});
    ::poll(waiting.data(), waiting.size(), -1);
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (waiting[i].fd >= 0 && waiting[i].revents != 0) read(workers_[i]);
    }
  }

  void read(Worker& worker) {
    char buffer[65536];
    const ssize_t count = ::read(worker.from, buffer, sizeof buffer);
    if (count <= 0) return on_end(worker);
    worker.unread.append(buffer, static_cast<size_t>(count));
    size_t end;
    while ((end = worker.unread.find('\n')) != std::string::npos) {
      const std::string line = worker.unread.substr(0, end);
      worker.unread.erase(0, end + 1);
      on_line(worker, line);
    }
  }

  void on_line(Worker& worker, const std::string& line) {
    std::istringstream in(line);
    std::string kind, name, number, rest;
    std::getline(in, kind, '\t');
    std::getline(in, name, '\t');
    std::getline(in, number, '\t');
    std::getline(in, rest);
    sim::RunReport& report = worker.result.report;
    const uint64_t value = std::stoull(number);
    if (kind == "finding") report.findings.push_back({name, rest, Micros{static_cast<int64_t>(value)}});
    if (kind == "work") report.work[name] = value;
    if (kind == "change") report.changes[name] = value;
    if (kind == "fault") report.faults[name] = value;
    if (kind == "deviation") report.deviations[name] = value;
    if (kind == "probe") report.probes[name] = value;
    if (kind == "hash") report.state_hash = value;
    if (kind == "simulated") report.simulated = Micros{static_cast<int64_t>(value)};
    if (kind == "begin") worker.seed = value;
    if (kind == "end") tell(worker);
  }

  void tell(Worker& worker) {
    TM_ASSERT(worker.seed.has_value());
    worker.result.seed = *worker.seed;
    worker.seed.reset();
    if (!worker.result.ok() && options_.stop_at_failure) stopped_ = true;
    if (stopped_) stop_all();  // First, since what is made of a failure takes its time.
    on_result_(worker.result);
    worker.result = {};
  }

  void stop_all() {
    for (const Worker& worker : workers_) {
      if (worker.process > 0) ::kill(worker.process, SIGTERM);
    }
  }

  void on_end(Worker& worker) {
    ::close(worker.from);
    int status = 0;
    ::waitpid(worker.process, &status, 0);
    // Between two seeds it ends when none is left, or no time.
    const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !worker.seed;
    if (stopped_ || ended_well) {
      worker = {};
      return;
    }
    // The seed that it was at has ended the process: on with the next one, in a new one.
    worker.result.died = describe_death(status, options_);
    worker.process = -1;
    worker.from = -1;
    tell(worker);
    start(worker);
  }

  const CampaignOptions& options_;
  const std::function<void(const SeedResult&)>& on_result_;
  std::vector<Worker> workers_;
  NextSeed next_seed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool stopped_ = false;
};

}  // namespace

sim::RunReport run_seed(const CampaignOptions& options, uint64_t seed, const sim::Trace::Sink& first_run,
                        const sim::Trace::Sink& second_run) {
  const sim::Scenario scenario = scenario_of(options, seed);
  sim::RunReport report = options.run(scenario, first_run);
  if (!options.twice || !report.findings.empty()) return report;
  const sim::RunReport again = options.run(scenario, second_run);
  if (again.state_hash != report.state_hash) {
    report.findings.push_back({"determinism", "a second run ended in another state", again.simulated});
  }
  return report;
}

sim::Scenario scenario_of(const CampaignOptions& options, uint64_t seed) {
  sim::Scenario scenario = sim::draw_scenario(seed, options.scenario);
  for (const std::string& setting : options.settings) {
    const Status set = sim::apply_setting(scenario, setting);
    TM_ASSERT(set.ok(), setting);
  }
  return scenario;
}

void run_campaign(const CampaignOptions& options, const std::function<void(const SeedResult&)>& on_result) {
  Campaign(options, on_result).run();
}

}  // namespace tidemark
