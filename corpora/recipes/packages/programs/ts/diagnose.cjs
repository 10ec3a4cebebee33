// Prints the compiler API's own diagnostics as JSON lines: node diagnose.cjs <typescript> <tsconfig>
const path = require("node:path");
const ts = require(process.argv[2]);
const config = ts.getParsedCommandLineOfConfigFile(process.argv[3], {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} });
const program = ts.createProgram(config.fileNames, config.options);
for (const d of ts.getPreEmitDiagnostics(program)) {
  const at = d.file ? d.file.getLineAndCharacterOfPosition(d.start) : null;
  console.log(JSON.stringify({
    file: d.file ? path.relative(process.cwd(), d.file.fileName) : "",
    line: at ? at.line + 1 : null,
    column: at ? at.character + 1 : null,
    code: "TS" + d.code,
    severity: ts.DiagnosticCategory[d.category].toLowerCase(),
    message: ts.flattenDiagnosticMessageText(d.messageText, "\n"),
  }));
}
