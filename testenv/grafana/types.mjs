// Checks dashboards against Grafana's published types: each becomes a constant of type Dashboard, and tsc judges.
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = fileURLToPath(new URL('.', import.meta.url));

/** complaints has of each dashboard, given as JSON by its name, what tsc says against it. */
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

// said counts lines as the JSON has them: two of ours are before.
function said({ file, start, messageText }) {
  const where = file ? `line ${file.getLineAndCharacterOfPosition(start).line - 1}: ` : '';
  return where + ts.flattenDiagnosticMessageText(messageText, '\n');
}
