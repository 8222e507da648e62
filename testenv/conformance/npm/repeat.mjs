// Runs commands of the suite one after the other in one process, with `node --import ./globsync.mjs ./repeat.mjs
// SUITE`, because loading the suite takes longer than most scenarios. Each line of standard input contains the
// arguments of one command, as a JSON array. After the output of a command, the script prints a line with the command's
// exit status, such as "\0exit 0". The suite's code is unchanged: this script replaces the parse method of its
// command-line library, so that the suite defines its commands but runs none of them when it is loaded.
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

// run runs one command and returns its exit status. When the suite calls process.exit, run throws an error instead, to
// leave the command. The suite would print this error if it catches it, so run also silences console.error.
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
    if (status === undefined) throw e; // ends this process, as the error would end the command's own process
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
