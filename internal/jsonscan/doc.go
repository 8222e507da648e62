// Package jsonscan validates JSON text (RFC 8259) where it lies and hands out the pieces.
//
// It is the one scanner under the JSON-RPC envelope and under the decoders of package mcp. Nothing is copied: every
// function takes the text and an offset and answers with the offset behind what it read, and [Object] and [Array] walk
// over members and elements in the same way. So a decoder that consumes a value with these functions has also checked
// every byte of it, once.
//
// Start with [Valid] or [Value] to check a text, with [ObjectAt] to decode one:
//
//	o := jsonscan.ObjectAt(frame, 0)
//	for o.Next() {
//		switch string(o.Key()) {
//		case "type":
//			c.Type = o.Text()
//		case "annotations":
//			o.Take(decodeAnnotations(frame, o.At(), &c.Annotations))
//		}
//	}
//	return o.End(), o.Err()
//
// What may surprise:
//
//   - It is strict: no byte order mark, no trailing bytes, no control character and no invalid UTF-8 in a string,
//     nothing nested deeper than [MaxDepth]. It does not recurse, so hostile nesting costs no stack.
//   - An escaped lone surrogate ("\ud83d", what a JavaScript peer sends after cutting a string inside an emoji) is
//     valid by the grammar and accepted; [Unquote] turns it into U+FFFD.
//   - Two members of one name are not noticed: who knows the names can tell, with [Seen], without remembering all of
//     them.
//   - [Object.Text] and [Text] decode in place: they overwrite the text they read and return strings that point into
//     it.
package jsonscan
