module.exports = function twice(n) {
  return n * 2;
};
