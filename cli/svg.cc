#include "cli/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numbers>

namespace tidemark {
namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

// Hues a golden angle apart: neighbours in the legend never look alike.
std::string colour(size_t group) {
  const double hue = std::fmod(static_cast<double>(group) * 137.508, 360);
  return format("hsl(%.0f,62%%,%d%%)", hue, group % 2 == 0 ? 48 : 64);
}

std::string text_at(double x, double y, const std::string& text, const char* more = "") {
  return format("<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more) + escaped(text) + "</text>\n";
}

std::string document(double width, double height, const std::string& title, const std::string& body) {
  return format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
             "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
             width, height) +
         text_at(16, 24, title, "font-size=\"15\"") + body + "</svg>\n";
}

constexpr double kCenterX = 260, kCenterY = 300, kOuter = 230;

std::string point(double turn, double radius) {
  const double angle = 2 * std::numbers::pi * turn;
  return format("%.2f %.2f", kCenterX + radius * std::sin(angle), kCenterY - radius * std::cos(angle));
}

std::string arc_path(const Arc& arc, double outer, double inner) {
  // A whole turn has no direction: stop just short of it.
  const double end = std::min(arc.end, arc.begin + 0.99999);
  const int large = end - arc.begin > 0.5 ? 1 : 0;
  return "<path d=\"M" + point(arc.begin, outer) + format(" A%.2f %.2f 0 %d 1 ", outer, outer, large) +
         point(end, outer) + " L" + point(end, inner) + format(" A%.2f %.2f 0 %d 0 ", inner, inner, large) +
         point(arc.begin, inner) + "Z\" fill=\"" + colour(arc.group) + "\"/>\n";
}

struct Scale {
  double low, high, from, to;
  double operator()(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

constexpr double kWidth = 760, kPanelHeight = 220, kLeft = 60, kRight = 560;

Scale y_scale(const Panel& panel, double top) {
  double high = 0;
  for (const Line& line : panel.lines) {
    for (const double value : line.values) high = std::max(high, value);
  }
  return {0, high > 0 ? high * 1.1 : 1, top + kPanelHeight - 40, top + 24};
}

std::string axes(const Panel& panel, const Scale& x, const Scale& y, double top) {
  std::string svg = text_at(kLeft, top + 14, panel.title, "font-weight=\"bold\"");
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = y.low + (y.high - y.low) * tick / 4;
    svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, kRight,
                  y(value), y(value));
    svg += text_at(kLeft - 6, y(value) + 4, format("%.2f", value), "text-anchor=\"end\"");
    const double at = x.low + (x.high - x.low) * tick / 4;
    svg += text_at(x(at), y.from + 16, format("%.0f", at), "text-anchor=\"middle\"");
  }
  return svg + text_at(kRight + 12, top + 14, panel.y_label, "fill=\"#666\"");
}

std::string line_path(const Line& line, size_t index, const Scale& x, const Scale& y, double top) {
  std::string points;
  for (size_t i = 0; i < line.values.size(); ++i) {
    points += format("%.1f,%.1f ", x(static_cast<double>(i)), y(line.values[i]));
  }
  const double row = top + 36 + 18 * static_cast<double>(index);
  return "<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"" + colour(index) + "\" points=\"" + points +
         "\"/>\n" +
         format("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"4\" fill=\"", kRight + 12, row - 6) +
         colour(index) + "\"/>\n" + text_at(kRight + 30, row, line.name);
}

}  // namespace

std::string svg_of_rings(const std::string& title, const std::vector<std::vector<Arc>>& rings,
                         const std::vector<std::string>& legend) {
  constexpr size_t kLegendRows = 28, kLegendMax = 84;
  std::string body;
  const double width = kOuter * 0.7 / static_cast<double>(std::max<size_t>(rings.size(), 1));
  for (size_t i = 0; i < rings.size(); ++i) {
    const double outer = kOuter - width * static_cast<double>(i);
    for (const Arc& arc : rings[i]) body += arc_path(arc, outer, outer - width * 0.92);
  }
  for (size_t i = 0; i < std::min(legend.size(), kLegendMax); ++i) {
    const double x = 530 + 110 * static_cast<double>(i / kLegendRows),
                 y = 60 + 18 * static_cast<double>(i % kLegendRows);
    body += format("<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" fill=\"", x, y - 10) + colour(i) +
            "\"/>\n" + text_at(x + 18, y, legend[i]);
  }
  if (legend.size() > kLegendMax) {
    body += text_at(530, 60 + 18 * kLegendRows, format("and %zu more", legend.size() - kLegendMax));
  }
  return document(880, 590, title, body);
}

std::string svg_of_panels(const std::string& title, const std::string& x_label,
                          const std::vector<Panel>& panels) {
  std::string body;
  double top = 44;
  for (const Panel& panel : panels) {
    size_t length = 2;
    for (const Line& line : panel.lines) length = std::max(length, line.values.size());
    const Scale x{0, static_cast<double>(length - 1), kLeft, kRight}, y = y_scale(panel, top);
    body += axes(panel, x, y, top);
    for (size_t i = 0; i < panel.lines.size(); ++i) body += line_path(panel.lines[i], i, x, y, top);
    top += kPanelHeight;
  }
  body += text_at((kLeft + kRight) / 2, top - 4, x_label, "text-anchor=\"middle\"");
  return document(kWidth, top + 10, title, body);
}

}  // namespace tidemark
