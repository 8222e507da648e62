// Runs one command of the suite after the other in one process, as `node --import ./globsync.mjs ./repeat.mjs SUITE`, for
// loading the suite takes longer than most scenarios. Each line of standard input is the arguments of a command, as a JSON
// array. What the command prints ends with a line that says its status, "\0exit 0". The suite is used as it is: it is loaded
// without arguments, and keeps its command line instead of reading them.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const suite = process.argv[2];
const { Command } = createRequire(suite)("commander");
let program;
Command.prototype.parse = function () {
  program = this;
};
await import(pathToFileURL(suite));

// run returns the status of one command. Where the suite exits, the command is thrown out of; what it catches of that, it
// would print.
async function run(args) {
  const { exit } = process;
  const { error } = console;
  let status;
  process.exit = (code = process.exitCode ?? 0) => {
    status ??= code;
    console.error = () => {};
    throw new Error("the command exits");
  };
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (e) {
    if (status === undefined) throw e; // ends this process, as it would that of the command
  } finally {
    process.exit = exit;
    console.error = error;
  }
  return status ?? process.exitCode ?? 0;
}

for await (const line of createInterface({ input: process.stdin })) {
  const status = await run(JSON.parse(line));
  process.stdout.write(`\n\0exit ${status}\n`);
}
process.exit();
