// Drawings as SVG text: rings of arcs, and lines over a common axis.
#pragma once

#include <string>
#include <vector>

namespace tidemark {

struct Arc {
  double begin, end;  // Of a turn, from 0 at the top, clockwise.
  size_t group;       // Gives the colour; index into the legend.
};

// Rings from the outermost to the innermost.
std::string svg_of_rings(const std::string& title, const std::vector<std::vector<Arc>>& rings,
                         const std::vector<std::string>& legend);

struct Line {
  std::string name;
  std::vector<double> values;  // One for each whole number on the x axis, from 0.
};

struct Panel {
  std::string title, y_label;
  std::vector<Line> lines;
};

// Panels below each other, with the same x axis.
std::string svg_of_panels(const std::string& title, const std::string& x_label,
                          const std::vector<Panel>& panels);

}  // namespace tidemark
