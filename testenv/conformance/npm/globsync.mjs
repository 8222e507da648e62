// Lets the suite start on node 20, as `node --import ./globsync.mjs`: it imports globSync from fs, which node has from 22
// on. Only two of its commands call that, neither of which is used here.
import * as fs from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const url = "globsync:fs";
const source = `export * from "node:fs"; export function globSync() { throw new Error("globSync wants node 22"); }`;

export const resolve = (specifier, context, next) =>
  specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
    ? { url, shortCircuit: true }
    : next(specifier, context);

export const load = (asked, context, next) =>
  asked === url ? { format: "module", source, shortCircuit: true } : next(asked, context);

// This file is its own hook: node loads it again in the thread of the hooks.
if (isMainThread && !("globSync" in fs)) register(import.meta.url);
