#include "tests/simulation/scenario.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "base/nearest.h"
#include "base/random.h"

namespace tidemark::sim {
namespace {

#define KNOB(field, least) \
  { #field, &Scenario::field, least }

constexpr Knob kKnobs[] = {
    KNOB(operations, 20),
    KNOB(steps, 150'000),
    KNOB(buggify, 0),
    KNOB(crash, 0),
    KNOB(pause, 0),
    KNOB(hang, 0),
    KNOB(expire, 0),
    KNOB(lose_disk, 0),
    KNOB(whole_logs, 0),
    KNOB(lose_process, 0),
    KNOB(partition, 0),
    KNOB(loss, 0),
    KNOB(slow, 0),
    KNOB(late, 0),
    KNOB(late_fence, 0),
    KNOB(unknown, 0),
    KNOB(no_offset, 0),
    KNOB(duplicate, 0),
    KNOB(duplicate_reported, 0),
    KNOB(lost, 0),
    KNOB(unavailable, 0),
    KNOB(refused, 0),
    KNOB(outage, 0),
    KNOB(lose_request, 0),
    KNOB(lose_reply, 0),
    KNOB(lagging, 0),
    KNOB(cut_off, 0),
    KNOB(refuse_saves, 0),
    KNOB(fill, 0),
    KNOB(region_changes, 0),
    KNOB(view_manager_changes, 0),
    KNOB(discards, 0),
    KNOB(cancels, 0),
    KNOB(paces, 0),
    KNOB(views_later, 0),
    KNOB(views, 1),
    KNOB(drops, 0),
    KNOB(reads, 0),
    KNOB(deletes, 0),
    KNOB(conditional, 0),
    KNOB(whole, 0),
    KNOB(stop, 0),
    KNOB(standbys, 0),
    KNOB(clients, 1),
    KNOB(in_flight_max, 1),
    KNOB(view_managers, 1),
    KNOB(nodes, 1),
    KNOB(regions, 1),
    KNOB(replicas, 1),
    KNOB(shards, 2),
    KNOB(keys, 2),
    KNOB(groups, 1),
    KNOB(batch_rows, 1),
    KNOB(tokens, 0),
    KNOB(one_way, 0),
    KNOB(embedded, 0),
    KNOB(pace_micros, 1'000),
    KNOB(down_micros, 100'000),
    KNOB(delay_micros, 100),
    KNOB(slow_delay_micros, 1'000),
    KNOB(append_delay_micros, 100),
    KNOB(read_delay_micros, 100),
    KNOB(late_delay_micros, 10'000),
    KNOB(coordination_delay_micros, 0),
    KNOB(watch_delay_micros, 0),
    KNOB(reconnect_delay_micros, 0),
    KNOB(lag_micros, 1'000),
    KNOB(save_delay_micros, 1'000),
    KNOB(record_bytes_max, 900'000),
    KNOB(in_flight_records_max, 8),
    KNOB(commit_delay_micros, 2'000),
    KNOB(page_bytes_max, 262'144),
    KNOB(join_page_matches_max, 1'000),
    KNOB(progress_interval_micros, 50'000),
    KNOB(unify_interval_micros, 1'000'000),
    KNOB(sessions_max, 10'000),
    KNOB(session_idle_micros, 500'000),
    KNOB(lag_records_max, 1'000'000),
    KNOB(window_bytes_max, 4 << 20),
    KNOB(message_bytes_max, 512 << 10),
    KNOB(silent_records_max, 256),
    KNOB(read_bytes, 64 << 10),
    KNOB(checkpoint_interval_micros, 5'000'000),
    KNOB(seed_chunk_bytes, 512 << 10),
    KNOB(input_bytes_max, 64 << 20),
    KNOB(queue_bytes_min, 64 << 10),
    KNOB(effects_bytes_max, 128 << 20),
    KNOB(batch_bytes_max, 256 << 10),
    KNOB(batch_effects_max, 8192),
    KNOB(batches_in_flight_max, 2),
    KNOB(answer_timeout_micros, 500'000),
    KNOB(stall_timeout_micros, 2'000'000),
    KNOB(report_interval_micros, 50'000),
    KNOB(spread_after_micros, 2'000'000),
    KNOB(replica_absence_micros, 20'000'000),
    KNOB(seeds_at_once, 4),
    KNOB(refused_delay_micros, 1'000'000),
    KNOB(discard_records_min, 200),
    KNOB(session_timeout_micros, 2'000'000),
    KNOB(activate_by_coordinator, 0),
    KNOB(placement, 0),
};
#undef KNOB

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed ^ 0x5eed'5eed'5eed'5eedu) {}

  double one_of(std::initializer_list<double> values) { return values.begin()[random_.below(values.size())]; }
  // Evenly on a logarithmic scale; a whole number.
  double scale(double low, double high) { return std::round(low * std::pow(high / low, random_.unit())); }
  double upto(double low, double high) {
    return static_cast<double>(random_.between(static_cast<int64_t>(low), static_cast<int64_t>(high)));
  }
  // A rate that is zero now and then, else somewhere around `usual`.
  double rate(double usual) { return random_.chance(0.25) ? 0 : usual * one_of({0.3, 1, 1, 2, 4}); }
  bool chance(double probability) { return random_.chance(probability); }

 private:
  Random random_;
};

void draw_cluster(Draw& draw, Scenario& s) {
  s.nodes = draw.one_of({2, 2, 3, 3, 3, 4});
  s.view_managers = draw.one_of({1, 2, 2, 2, 3});
  s.standbys = draw.one_of({0, 0, 0, 1});
  s.shards = draw.one_of({8, 16, 16, 32, 64});
  s.regions = draw.one_of({1, 2, 2, 3, 4});
  s.replicas = std::min(s.nodes, draw.one_of({1, 2, 2, 2, 3}));
  s.embedded = draw.chance(0.08) ? 1 : 0;
}

void draw_work(Draw& draw, Scenario& s) {
  s.operations = draw.upto(2000, 2300);
  s.clients = draw.upto(1, 3);
  s.in_flight_max = draw.scale(50, 300);
  s.keys = draw.scale(8, 120);
  s.groups = draw.scale(2, 12);
  s.batch_rows = draw.one_of({1, 2, 4, 8});
  // A write meets that many partners in a join: more of them cost minutes and find no more.
  constexpr double kPartnersMax = 5;
  s.keys = std::max(8.0, std::min(s.keys, std::round(kPartnersMax * s.groups / s.batch_rows)));
  s.pace_micros = draw.scale(400, 4'000);
  s.deletes = draw.one_of({0.05, 0.2, 0.4});
  s.conditional = draw.one_of({0, 0.2, 0.5});
  s.whole = draw.one_of({0, 0.2, 0.5});
  s.reads = draw.one_of({0.2, 0.4, 0.6});
  s.tokens = draw.one_of({0, 0.3, 0.6});
  s.views = draw.upto(1, 4);
  s.views_later = draw.upto(0, 2);
  s.drops = draw.one_of({0, 0.3, 0.6});
  s.region_changes = draw.upto(3, 10);
  s.view_manager_changes = draw.upto(2, 8);
  s.discards = draw.upto(0, 5);
  s.cancels = draw.one_of({0, 0.1, 0.3});
}

void draw_tunables(Draw& draw, Scenario& s) {
  // A region must take a row, a message an entry: the least ones still do.
  s.record_bytes_max = draw.chance(0.5) ? s.record_bytes_max : draw.scale(3'000, 50'000);
  s.in_flight_records_max = draw.one_of({1, 2, 8, 8});
  s.commit_delay_micros = draw.one_of({0, 500, 2'000, 10'000});
  s.page_bytes_max = draw.one_of({200, 1'000, 262'144});
  s.join_page_matches_max = draw.one_of({1, 2, 3, 10, 1'000});
  s.progress_interval_micros = draw.one_of({1'000, 50'000, 500'000});
  s.unify_interval_micros = draw.one_of({50'000, 1'000'000});
  s.sessions_max = draw.one_of({1, 2, 10, 10'000});
  s.lag_records_max =
      draw.chance(0.1) ? 1'000'000 : draw.one_of({30, 100, 300});  // More than silent ones: settle().
  s.window_bytes_max = draw.one_of({500, 5'000, 50'000, 4 << 20, 4 << 20});
  s.message_bytes_max = draw.one_of({300, 5'000, 512 << 10});
  s.silent_records_max = draw.one_of({4, 32, 256});
  s.read_bytes = draw.one_of({2'000, 10'000});
  s.checkpoint_interval_micros = draw.scale(200'000, 10'000'000);
  s.seed_chunk_bytes = draw.one_of({100, 500, 10'000});
  s.input_bytes_max = draw.one_of({20'000, 100'000, 64 << 20});
  s.queue_bytes_min = draw.one_of({2'000, 5'000, 64 << 10});
  s.effects_bytes_max = draw.one_of({5'000, 100'000, 128 << 20});
  s.batch_bytes_max = draw.one_of({200, 3'000, 256 << 10});
  s.batch_effects_max = draw.chance(0.05) ? 1 : draw.one_of({3, 20, 20, 8192});
  s.batches_in_flight_max = draw.one_of({1, 2, 4});
  s.answer_timeout_micros = draw.one_of({50'000, 500'000});
  s.stall_timeout_micros = draw.one_of({200'000, 2'000'000});
  s.report_interval_micros = draw.one_of({1'000, 50'000, 200'000});
  s.spread_after_micros = draw.one_of({300'000, 2'000'000, 5'000'000});
  s.replica_absence_micros = draw.one_of({1'000'000, 5'000'000, 20'000'000});
  s.seeds_at_once = draw.one_of({1, 1, 4});
  s.refused_delay_micros = draw.one_of({300'000, 3'000'000});
  s.discard_records_min = draw.one_of({0, 20, 200, 2'000});
  s.session_timeout_micros = draw.one_of({300'000, 1'000'000, 3'000'000});
  s.activate_by_coordinator = draw.one_of({0, 1});
  s.placement = draw.one_of({0, 0, 1, 2});
}

void draw_faults(Draw& draw, Scenario& s) {
  s.crash = draw.rate(0.08);
  s.pause = draw.rate(0.06);
  s.hang = draw.rate(0.03);
  s.expire = draw.rate(0.03);
  s.down_micros = draw.scale(100'000, 4'000'000);
  s.lose_disk = draw.chance(0.3) ? 0.4 : 0;
  s.whole_logs = draw.one_of({0, 0, 1});
  s.stop = draw.one_of({0, 0.1, 0.5});
  s.lose_process = draw.one_of({0, 0, 1});
  s.loss = draw.rate(0.0005);
  s.slow = draw.rate(0.005);
  s.slow_delay_micros = draw.scale(10'000, 1'000'000);
  s.delay_micros = draw.scale(100, 5'000);
  s.partition = draw.rate(0.05);
  s.one_way = draw.one_of({0, 0.5, 1});
  for (double Scenario::*fault : {&Scenario::late, &Scenario::unknown, &Scenario::no_offset,
                                  &Scenario::duplicate, &Scenario::duplicate_reported, &Scenario::lost}) {
    s.*fault = draw.rate(0.0015);
  }
  s.late_fence = draw.rate(0.03);
  s.unavailable = draw.rate(0.001);
  s.outage = draw.rate(0.01);
  s.refused = draw.rate(0.03);
  s.append_delay_micros = draw.chance(0.1) ? draw.scale(20'000, 500'000) : draw.scale(200, 20'000);
  s.read_delay_micros = draw.chance(0.3) ? draw.scale(1'000, 200'000) : 500;
  s.late_delay_micros = draw.scale(10'000, 8'000'000);
  s.coordination_delay_micros = draw.scale(100, 50'000);
  s.watch_delay_micros = draw.scale(100, 500'000);
  s.lose_request = draw.rate(0.002);
  s.lose_reply = draw.rate(0.002);
  s.reconnect_delay_micros = draw.scale(1'000, 500'000);
  s.save_delay_micros = draw.scale(500, 1'000'000);
  s.cut_off = draw.rate(0.05);
  s.refuse_saves = draw.rate(0.01);
  s.fill = draw.one_of({0, 0.5});
  s.paces = draw.one_of({0, 0, 4, 10});
  s.lagging = draw.one_of({0, 0, 0.3, 0.7});
  s.lag_micros = draw.scale(1'000, 5'000'000);
}

void multiply(Scenario& s, double by, std::initializer_list<double Scenario::*> fields) {
  for (double Scenario::*field : fields) s.*field *= by;
}

struct Kind {
  const char* name;
  void (*turn)(Scenario& s);
};

// Half of the swarm dwells on one part, so that its rare histories are met often.
const Kind kKinds[] = {
    {"swarm", [](Scenario&) {}},
    {"calm",
     [](Scenario& s) {
       multiply(s, 0,
                {&Scenario::crash,
                 &Scenario::pause,
                 &Scenario::hang,
                 &Scenario::expire,
                 &Scenario::loss,
                 &Scenario::slow,
                 &Scenario::partition,
                 &Scenario::late,
                 &Scenario::late_fence,
                 &Scenario::unknown,
                 &Scenario::no_offset,
                 &Scenario::duplicate,
                 &Scenario::duplicate_reported,
                 &Scenario::lost,
                 &Scenario::unavailable,
                 &Scenario::outage,
                 &Scenario::lose_request,
                 &Scenario::lose_reply,
                 &Scenario::lagging,
                 &Scenario::refused,
                 &Scenario::cut_off,
                 &Scenario::refuse_saves,
                 &Scenario::lose_disk,
                 &Scenario::lose_process});
       s.standbys = 0;  // Nobody takes another's place.
     }},
    {"log",
     [](Scenario& s) {
       s.embedded = 0;
       s.regions = std::min(s.regions, 2.0);
       for (double Scenario::*fault :
            {&Scenario::late, &Scenario::unknown, &Scenario::no_offset, &Scenario::duplicate,
             &Scenario::duplicate_reported, &Scenario::lost}) {
         s.*fault = std::max(s.*fault * 4, 0.003);
       }
       s.late_fence = std::max(s.late_fence, 0.1);
       s.pause = std::max(s.pause, 0.1);
     }},
    {"regions",
     [](Scenario& s) {
       s.embedded = 0;
       s.regions = std::max(s.regions, 3.0);
       s.region_changes = 25;
       s.view_manager_changes = std::max(s.view_manager_changes, 12.0);  // A merge meets rings and views
       s.views_later = std::max(s.views_later, 4.0);                     // that are new.
       s.steps = 180'000;
       s.discards = 10;
       s.discard_records_min = 20;
       s.crash = std::max(s.crash, 0.1);
       s.checkpoint_interval_micros = std::min(s.checkpoint_interval_micros, 1'000'000.0);
     }},
    {"managers",
     [](Scenario& s) {
       s.view_managers = std::max(s.view_managers, 2.0);
       s.standbys = std::max(s.standbys, 1.0);
       s.view_manager_changes = 20;
       s.crash = std::max(s.crash, 0.1);
       s.pause = std::max(s.pause, 0.1);
     }},
    {"views",
     [](Scenario& s) {
       s.views = 8;
       s.views_later = 6;
       s.drops = 0.5;
       s.paces = 20;
       s.page_bytes_max = 300;
       s.join_page_matches_max = std::min(s.join_page_matches_max, 3.0);
     }},
    {"disk",
     [](Scenario& s) {
       s.embedded = 1;
       s.crash = std::max(s.crash, 0.3);
       s.append_delay_micros = std::max(s.append_delay_micros, 20'000.0);  // A crash finds much unsynced.
       s.save_delay_micros = std::max(s.save_delay_micros, 500'000.0);
       s.checkpoint_interval_micros = std::min(s.checkpoint_interval_micros, 500'000.0);
     }},
    {"sessions",
     [](Scenario& s) {
       // Clients ask again and again, while regions come apart and together, and sessions end.
       s.embedded = 0;
       s.nodes = s.replicas = 2;
       s.clients = 3;
       s.batch_rows = std::max(s.batch_rows, 4.0);
       s.reads = 0.2;
       s.loss = 0.02;
       s.region_changes = 60;
       s.steps = 180'000;
       s.session_idle_micros = 2'000;
     }},
};
// Those that the swarm dwells on. To draw from more would make other clusters of all its seeds.
constexpr size_t kKindsOfSwarm = 7;

void settle(Scenario& s) {
  // A page per match shows what there is to see; a hundred pages per change only take time.
  s.join_page_matches_max = std::max(s.join_page_matches_max, std::floor(s.keys / s.groups / 4));
  s.lag_records_max += s.silent_records_max;
  if (s.lose_disk == 0) s.whole_logs = 0;
  if (s.whole_logs > 0) {
    s.discards = 0;
    s.discard_records_min = 1e12;
  }
  if (s.embedded == 0) return;
  s.nodes = s.replicas = 1;
  s.lose_disk = 0;  // The log is on it.
}

}  // namespace

std::span<const Knob> knobs() {
  return kKnobs;
}

const Knob* find_knob(std::string_view name) {
  for (const Knob& knob : kKnobs) {
    if (knob.name == name) return &knob;
  }
  return nullptr;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Scenario draw_scenario(uint64_t seed, const std::string& name) {
  Draw draw(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.name = name;
  draw_cluster(draw, scenario);
  draw_work(draw, scenario);
  draw_tunables(draw, scenario);
  draw_faults(draw, scenario);
  const size_t dwell = draw.chance(0.5) ? static_cast<size_t>(draw.upto(1, kKindsOfSwarm - 1)) : 0;
  scenario.buggify = draw.rate(0.02);
  if (name == "swarm") kKinds[dwell].turn(scenario);
  for (const Kind& kind : kKinds) {
    if (kind.name == name) kind.turn(scenario);
  }
  settle(scenario);
  return scenario;
}

Status apply_setting(Scenario& scenario, std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string name(setting.substr(0, equals));
  const Knob* knob = find_knob(name);
  if (knob == nullptr) {
    std::vector<std::string> known;
    for (const Knob& one : kKnobs) known.emplace_back(one.name);
    return Error{"a scenario has no \"" + name + "\"" + did_you_mean(name, known)};
  }
  const std::string_view text = equals == setting.npos ? "" : setting.substr(equals + 1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
    return Error{"\"" + std::string(setting) + "\": a number is wanted, as in " + name + "=3"};
  }
  scenario.*knob->field = value;
  return {};
}

namespace {
std::string setting(const Knob& knob, const Scenario& scenario) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, scenario.*knob.field).ptr;
  return std::string(knob.name) + "=" + std::string(text, end);
}
}  // namespace

std::vector<std::string> settings_of(const Scenario& scenario) {
  const Scenario drawn = draw_scenario(scenario.seed, scenario.name);
  std::vector<std::string> settings;
  for (const Knob& knob : kKnobs) {
    if (drawn.*knob.field != scenario.*knob.field) settings.push_back(setting(knob, scenario));
  }
  return settings;
}

std::string describe(const Scenario& scenario) {
  std::string out = scenario.name + " " + std::to_string(scenario.seed) + ":";
  for (const Knob& knob : kKnobs) out += " " + setting(knob, scenario);
  return out;
}

}  // namespace tidemark::sim
