#include "table.hpp"

#include <algorithm>
#include <iostream>

struct Point {
    int x, y;
};

class Shape {
  public:
    virtual double area() const = 0;
    ~Shape() = default;
};

class Square : public Shape {
  public:
    explicit Square(double side) : side_(side) {}
    double area() { return side_ * side_; }

  private:
    double side_;
};

int main() {
    table::Index<std::string, Point> index;
    index.add("origin", Point{0, 0});
    std::cout << index.largest() << "\n";
    std::string name = table::middle(std::string("a"), std::string("c"));
    std::vector<Point> points = {{3, 1}, {1, 2}};
    std::sort(points.begin(), points.end());
    Square square(2);
    int narrow = points.size() - 3.5;
    return square.area() + undefined_offset;
}
