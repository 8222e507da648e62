// Makes the suite start on Node.js 20, with `node --import ./globsync.mjs`: the suite imports globSync from fs, which
// exists only from Node.js 22 on. Only two commands of the suite call globSync, and the tests use neither of them.
import * as fs from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const url = "globsync:fs";
const source = `export * from "node:fs"; export function globSync() { throw new Error("globSync requires Node.js 22"); }`;

export const resolve = (specifier, context, next) =>
  specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
    ? { url, shortCircuit: true }
    : next(specifier, context);

export const load = (asked, context, next) =>
  asked === url ? { format: "module", source, shortCircuit: true } : next(asked, context);

// This file is also the module of the hooks: Node.js loads it a second time, in the thread that runs the hooks.
if (isMainThread && !("globSync" in fs)) register(import.meta.url);
