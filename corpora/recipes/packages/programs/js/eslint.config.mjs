const globals = { console: "readonly", process: "readonly", module: "writable", require: "readonly", __dirname: "readonly", setTimeout: "readonly", Buffer: "readonly", define: "readonly", exports: "writable", describe: "readonly", it: "readonly" };
export default [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2022, sourceType: "commonjs", globals },
    rules: {
      "no-unused-vars": "error", "no-undef": "error", eqeqeq: "error", "prefer-const": "warn", "no-var": "warn",
      "no-empty": "error", curly: "warn", "no-shadow": "warn", "no-redeclare": "error", "no-unreachable": "error",
      "no-dupe-keys": "error", "no-console": "warn", "no-use-before-define": "warn", "no-param-reassign": "warn",
    },
  },
];
