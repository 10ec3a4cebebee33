#pragma once
#include <map>
#include <string>
#include <vector>

namespace table {

template <typename Key, typename Value>
class Index {
  public:
    void add(const Key &key, const Value &value) { rows_[key].push_back(value); }
    std::size_t largest() const {
        std::size_t most = 0;
        for (const auto &row : rows_)
            if (row.second.size() > most) most = row.second.length();
        return most;
    }

  private:
    std::map<Key, std::vector<Value>> rows_;
};

template <typename T>
T middle(const T &low, const T &high) {
    return (low + high) / 2;
}

}  // namespace table
