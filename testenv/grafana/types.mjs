// Checks dashboards against Grafana's published types: each dashboard becomes a constant of type Dashboard, which tsc
// checks.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = fileURLToPath(new URL('.', import.meta.url));

/** complaints returns tsc's errors for each dashboard, by name. dashboards maps names to JSON. */
export function complaints(dashboards) {
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(`${here}tsconfig.json`, ts.sys.readFile).config, ts.sys, here);
  const sources = new Map(
    Object.entries(dashboards).map(([name, json]) => [
      `${here}src/${name}.json.ts`,
      `import type { Dashboard, Loose } from './dashboard';\nexport const dashboard: Loose<Dashboard> =\n${json};\n`,
    ])
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.readFile = (file) => sources.get(file) ?? readFile(file);
  host.getSourceFile = (file, language) =>
    sources.has(file) ? ts.createSourceFile(file, sources.get(file), language) : getSourceFile(file, language);
  const program = ts.createProgram([...sources.keys()], options, host);
  return Object.fromEntries(
    [...sources.keys()].map((file, i) => {
      const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(file));
      return [Object.keys(dashboards)[i], found.map(said)];
    })
  );
}

// said formats an error, with its line in the JSON: the source has two lines before the JSON.
function said({ file, start, messageText }) {
  const where = file ? `line ${file.getLineAndCharacterOfPosition(start).line - 1}: ` : '';
  return where + ts.flattenDiagnosticMessageText(messageText, '\n');
}
