// Package mcp is the vocabulary of the Model Context Protocol: every method, message, type and error code of the
// revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28 and of the tasks extension. It does no I/O; a
// client and a server share it.
//
// [Lookup] tells what a method is: who sends it, in which revisions, with which params and which result. [Decode] turns
// the bytes of params or of a result into one of the types here, [AppendParams] and [AppendResult] turn one back.
//
// One type serves all revisions. A member that a revision does not have stays zero and is then not sent; comments say
// "from" and "until" where that matters. The two eras are the specification's: [Legacy] revisions open a session with
// initialize, [Modern] ones carry version, identity and capabilities in the _meta of each request.
//
// Users of packages mcpclient and mcpserver need the types, and these, which make or read the usual ones: [Text],
// [CallToolResult.Text], [SamplingContent.Text], [Image], [ImageContent.Bytes], [Audio], [AudioContent.Bytes],
// [BlobContents], [ResourceContents.Bytes], [PromptRef], [ResourceRef], [ElicitParams.Form].
//
// What may surprise:
//
//   - [Decode] leaves its input alone and copies what it needs. [DecodeInPlace] overwrites its input and keeps parts of
//     it, which is cheaper for large results.
//   - Optional scalars are pointers where their zero value means something else than their absence: new(0.5),
//     new(true).
//   - A slice holds pointers to things that are passed on by themselves: what a list method lists, what carries _meta,
//     messages. It holds values where an element is only a part of something: icons, arguments of a prompt, fields of a
//     form.
//   - JSON that has no fixed shape stays JSON: schemas, structured content, arguments that were received, log data. So
//     do _meta and settings, as an [Object], and base64 data, as a string.
//   - An unknown value of an enumeration is kept, unknown content becomes an [*UnknownContent], unknown capabilities
//     stay in Extra; other members that the protocol does not define are skipped.
//   - A null stands for an absent member, except where any JSON is a value: structured content and log data.
//   - Field tags called mcp are notes for [Decode]: a required member must be there, an object must be one.
//   - The types work with encoding/json too, with its weaknesses: it takes member names in any case and the last of two
//     duplicates, writes nil slices as null, and does not notice that a required member is missing.
//   - JSON-RPC batches, which only 2025-03-26 has, are arrays of messages and need no types of their own.
package mcp
