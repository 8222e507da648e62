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
)

// maxUnpacked is how much memory one export request may take once it is unpacked, in bytes, beside its own size. An
// empty span is two bytes on the wire and some hundreds in memory, and gzip makes a thousand of them one: without this
// bound 4 KB of gzip would be 200 MiB. A batch of 8,192 spans with 20 attributes each takes 44 MiB of it.
const maxUnpacked = 64 << 20

// maxNesting bounds messages within messages: values may be lists of lists.
const maxNesting = 64

var errUnpacked = fmt.Errorf("more than %d bytes once it is unpacked", maxUnpacked)

// unmarshal unpacks protobuf that has been weighed.
func unmarshal(raw []byte, m proto.Message) error {
	if _, err := weigh(raw, m.ProtoReflect().Descriptor(), 0); err != nil {
		return err
	}
	return proto.Unmarshal(raw, m)
}

// weigh estimates what raw, a message that d describes, takes in memory, and gives up beyond maxUnpacked. It allocates
// nothing.
func weigh(raw []byte, d protoreflect.MessageDescriptor, depth int) (weight int, err error) {
	if depth > maxNesting {
		return 0, fmt.Errorf("more than %d messages within each other", maxNesting)
	}
	fields := d.Fields()
	weight = weightOf(fields.Len())
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
			weight += 8 * n // packed numbers of one byte each take eight
		}
		if weight > maxUnpacked {
			return 0, errUnpacked
		}
	}
	return weight, nil
}

// weightOf is what a message of so many fields takes in memory, about.
func weightOf(fields int) int { return 64 + 16*fields }

// unmarshalJSON unpacks JSON that has been weighed: by its objects, for each is a message.
func unmarshalJSON(raw []byte, m proto.Message) error {
	const fields = 8 // of a message, on average
	if bytes.Count(raw, []byte{'{'})*weightOf(fields) > maxUnpacked {
		return errUnpacked
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, m)
}

// weighing is gRPC's codec for protobuf, of which every message is weighed before it is unpacked.
type weighing struct{ grpcencoding.CodecV2 }

func (weighing) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no protobuf message", v)
	}
	raw := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer raw.Free()
	return unmarshal(raw.ReadOnlyData(), m)
}
