// The paths of the dashboards: the shipped dashboards, in the directory DASHBOARDS, and the fixtures that test the page
// itself.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const directory = process.env.DASHBOARDS ?? fail('DASHBOARDS is not set: the directory of the dashboards');
export const names = readdirSync(directory).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
export const fixtures = fileURLToPath(new URL('../testdata', import.meta.url));
export const fixture = (name) => `${fixtures}/${name}.json`;

function fail(message) {
  throw new Error(message);
}
