package otlpsink

import (
	"bytes"
	"fmt"

	grpcencoding "google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// maxUnpacked bounds the memory of a decoded export request, in bytes, in addition to its own size. An empty span takes
// two bytes on the wire and several hundred in memory, and gzip compresses a thousand of them to a byte: without this
// bound, 4 KB of gzip would take 200 MiB. A batch of 8,192 spans with 20 attributes each takes 44 MiB.
const maxUnpacked = 64 << 20

// maxNesting bounds nested messages: values may be lists of lists.
const maxNesting = 64

var errUnpacked = fmt.Errorf("more than %d bytes when decoded", maxUnpacked)

// unmarshal decodes protobuf after weighing it.
func unmarshal(raw []byte, m proto.Message) error {
	if _, err := weigh(raw, m.ProtoReflect().Descriptor(), 0); err != nil {
		return err
	}
	return proto.Unmarshal(raw, m)
}

// weigh estimates the memory of raw, a message with the descriptor d, and stops beyond maxUnpacked. It does not
// allocate.
func weigh(raw []byte, d protoreflect.MessageDescriptor, depth int) (weight int, err error) {
	if depth > maxNesting {
		return 0, fmt.Errorf("messages are nested more than %d deep", maxNesting)
	}
	fields := d.Fields()
	weight = weightOf(d)
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		raw = raw[n:]
		value := raw
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return 0, protowire.ParseError(n)
		}
		raw = raw[n:]
		if f := fields.ByNumber(number); f != nil && f.Message() != nil && kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(value)
			of, err := weigh(inner, f.Message(), depth+1)
			if err != nil {
				return 0, err
			}
			weight += of
		} else if f != nil && f.IsList() {
			weight += 8 * n // a packed number of one byte takes eight in memory
		}
		if weight > maxUnpacked {
			return 0, errUnpacked
		}
	}
	return weight, nil
}

// weightOf estimates the memory of a decoded message, in bytes.
func weightOf(d protoreflect.MessageDescriptor) int {
	weight := 64 + 16*d.Fields().Len()
	switch d.Name() {
	case "Span", "LogRecord", "NumberDataPoint", "HistogramDataPoint", "ExponentialHistogramDataPoint",
		"SummaryDataPoint":
		weight += 512
	}
	return weight
}

// unmarshalJSON decodes JSON after weighing it.
func unmarshalJSON(raw []byte, m proto.Message) error {
	if _, err := weighJSON(raw, m.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, m)
}

// perValue is the approximate memory of a value in a growing list, in bytes.
const perValue = 32

// level is an object or a list that contains the current position.
type level struct {
	message protoreflect.MessageDescriptor // message of an object; nil if the object is discarded
	field   protoreflect.FieldDescriptor   // field of the current member or the list; nil if it is discarded
	list    bool
	key     bool // a name follows
}

// weighJSON is weigh for JSON. It scans the text once, and stops at invalid JSON, as the decoder does.
func weighJSON(raw []byte, d protoreflect.MessageDescriptor) (weight int, err error) {
	open := make([]level, 1, 32)
	for i := 0; i < len(raw) && weight <= maxUnpacked; i++ {
		top := &open[len(open)-1]
		switch raw[i] {
		case '{':
			next := level{key: true}
			switch {
			case len(open) == 1:
				next.message = d
			case top.field != nil:
				next.message = top.field.Message()
			}
			if next.message != nil {
				weight += weightOf(next.message)
			}
			open = append(open, next)
		case '[':
			open = append(open, level{field: top.field, list: true})
		case '}', ']':
			if len(open) == 1 {
				return weight, nil
			}
			open = open[:len(open)-1]
		case ',':
			top.key = !top.list
		case ' ', '\t', '\n', '\r', ':':
		case '"':
			end, escaped, err := jsonscan.String(raw, i)
			if err != nil {
				return weight, nil
			}
			switch {
			case top.key:
				top.field, top.key = fieldOf(top.message, raw[i+1:end-1], escaped), false
			case top.list:
				weight += perValue
			}
			i = end - 1
		default: // a number or a word
			if top.list {
				weight += perValue
			}
			for i+1 < len(raw) && !bytes.ContainsRune([]byte(",]} \t\n\r"), rune(raw[i+1])) {
				i++
			}
		}
		if len(open) > 4*maxNesting {
			return 0, fmt.Errorf("values are nested more than %d deep", 4*maxNesting)
		}
	}
	if weight > maxUnpacked {
		return 0, errUnpacked
	}
	return weight, nil
}

// fieldOf returns the field of d for the name of a JSON member; nil for none.
func fieldOf(d protoreflect.MessageDescriptor, name []byte, escaped bool) protoreflect.FieldDescriptor {
	if d == nil {
		return nil
	}
	if escaped {
		name = jsonscan.Unquote(bytes.Clone(name))
	}
	if f := d.Fields().ByJSONName(string(name)); f != nil {
		return f
	}
	return d.Fields().ByTextName(string(name))
}

// weighing is gRPC's codec for protobuf, which weighs every message before it decodes it.
type weighing struct{ grpcencoding.CodecV2 }

func (weighing) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", v)
	}
	raw := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer raw.Free()
	return unmarshal(raw.ReadOnlyData(), m)
}
