function parse(text) {
  return text.split(",";
}

module.exports = parse;
