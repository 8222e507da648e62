// Package mcp defines the Model Context Protocol: every method, message, type and error code of the revisions
// 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28 and of the tasks extension. It does no I/O. Clients
// and servers share it.
//
// [Lookup] describes a method: its sender, its revisions, and the types of its params and result. [Decode] decodes
// params or a result into a type of this package; [AppendParams] and [AppendResult] encode it.
//
// One type serves all revisions. A member that a revision does not have stays zero and is not sent; where this
// matters, comments contain "from" and "until" with a revision. The specification divides the revisions into two eras:
// [Legacy] revisions open a session with initialize; [Modern] revisions send version, identity and capabilities in the
// _meta of each request.
//
// Users of the packages mcpclient and mcpserver need the types and the helpers that build and read common values:
// [Text], [CallToolResult.Text], [SamplingContent.Text], [Image], [ImageContent.Bytes], [Audio], [AudioContent.Bytes],
// [BlobContents], [ResourceContents.Bytes], [PromptRef], [ResourceRef], [ElicitParams.Form].
//
// Some conventions may surprise:
//
//   - [Decode] does not change its input and copies the parts that it keeps. [DecodeInPlace] overwrites its input and
//     keeps parts of it, which is cheaper for large results.
//   - Optional scalars are pointers if zero and absent have different meanings: new(0.5), new(true).
//   - A slice holds pointers if programs pass its elements around: listed items, values with _meta, messages. It holds
//     values if an element is only a part of a larger value: icons, arguments of a prompt, fields of a form.
//   - JSON without a fixed shape stays JSON: schemas, structured content, received arguments, log data. _meta and
//     settings are an [Object], base64 data is a string.
//   - Decoding keeps unknown values of an enumeration. Unknown content becomes an [*UnknownContent], and unknown
//     capabilities go into Extra. Decoding skips all other unknown members.
//   - A null means an absent member, except in structured content and log data, where any JSON is a value.
//   - Field tags named mcp are rules for [Decode]: required means that the member must be present, and object means
//     that the member must be a JSON object.
//   - The types also work with encoding/json, which is less strict: it ignores the case of member names, keeps the
//     last of two duplicates, encodes nil slices as null and does not report missing required members.
//   - JSON-RPC batches, which only 2025-03-26 has, are arrays of messages and have no types here.
package mcp
