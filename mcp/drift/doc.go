// Package drift tells whether the definitions of tools have changed: since an earlier list of the same session, or
// since a baseline that was written to a file. A server that changes a tool after a person has agreed to it can make a
// model do what the person did not agree to, and one that changes it by mistake breaks those who call it.
//
// Each tool has a [Fingerprint]: a digest of each part of its definition, so that a comparison says which parts have
// changed without having their text. Two definitions have the same fingerprint if they say the same:
//
//   - The order of tools, the order of members, space, escapes and forms of numbers (1, 1.0, 1e0) do not count.
//   - In a schema, neither does the order of required, enum, type, allOf, anyOf, oneOf and dependentRequired, which are
//     sets in JSON Schema. Everywhere else arrays keep their order: in default, const, examples, prefixItems, within a
//     value of enum, and in keywords that JSON Schema does not have.
//   - A hint that is absent is the same as the default that the specification gives it.
//
// Icons, execution and _meta are no part of it: servers put there what is new with each start, and no model reads them.
// The name of a tool is what it is compared by, so a tool with another name is one removed and one added.
//
// A [Change] and a [Fingerprint] are comparable data and safe for concurrent use; a [Tools] is a map, and used as one.
package drift
