// Package drift detects changes in the definitions of tools, since an earlier list of the same session or since a
// baseline in a file. A server that changes a tool after the user has approved the tool can make a model act against
// the user's consent. A server that changes a tool by mistake breaks its callers.
//
// Each tool has a [Fingerprint], a digest of each part of its definition, so a comparison finds the changed parts
// without their text. Equivalent definitions have equal fingerprints:
//
//   - A fingerprint ignores the order of tools and members, space, escapes and number formats (1, 1.0, 1e0).
//   - In schemas, it ignores the order in required, enum, type, allOf, anyOf, oneOf and dependentRequired, because
//     these are sets in JSON Schema. In all other arrays the order matters: in default, const, examples, prefixItems,
//     within a value of enum, and in keywords that JSON Schema does not define.
//   - An absent hint equals the default in the specification.
//
// Icons, execution and _meta are not part of a fingerprint: servers put values there that differ on each start, and
// models do not read them. Tools are compared by name, so a renamed tool counts as one removed tool and one added
// tool.
//
// A [Change] and a [Fingerprint] are plain data and safe for concurrent use. A [Tools] is a map, which is not safe for
// concurrent changes.
package drift
