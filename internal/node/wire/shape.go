package wire

import (
	"math"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"adshard/fault"
	"adshard/schema/pb"
)

// shape has the fields of a message with their bounds, for checking encoded messages.
type shape struct {
	fields []*field // by number
	slots  int      // number of fields that are counted
	// A message of at most harmless bytes cannot exceed a bound, neither its own nor that of a
	// message inside. Most messages are that small, and are not examined.
	harmless int
}

// field is one field of a shape.
type field struct {
	name   string // Message.field
	bound  bound
	list   bool
	packed protowire.Type // type of a list's packed scalars, or BytesType if they are not packed
	text   bool           // string or bytes
	of     *shape         // shape of a message, or nil for other fields
	slot   int            // index of its count, for lists and single messages; -1 for other fields
}

// maxSlots bounds the fields of one message that are counted.
const maxSlots = 16

// shapes returns the shape of every message of the schema, by full name.
var shapes = sync.OnceValue(func() map[protoreflect.FullName]*shape {
	return shapesOf(bounds(), pb.File_adshard_v1_control_proto, pb.File_adshard_v1_nodedata_proto,
		pb.File_adshard_v1_records_proto, pb.File_adshard_v1_load_proto, pb.File_adshard_v1_search_proto, pb.File_adshard_v1_query_proto, pb.File_adshard_v1_copy_proto)
})

// shapesOf returns the shapes of all messages of files that import only each other.
func shapesOf(bounds map[string]bound, files ...protoreflect.FileDescriptor) map[protoreflect.FullName]*shape {
	all := make(map[protoreflect.FullName]*shape)
	var messages []protoreflect.MessageDescriptor
	for _, f := range files {
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			messages = append(messages, m)
			all[m.FullName()] = &shape{}
		}
	}
	for _, m := range messages {
		s := all[m.FullName()]
		for i := range m.Fields().Len() {
			s.add(m.Fields().Get(i), bounds, all)
		}
	}
	for _, s := range all {
		s.harmless = s.least(nil)
	}
	return all
}

// least returns the size of the largest message that cannot exceed a bound. `above` has the shapes
// of the messages that contain it.
func (s *shape) least(above []*shape) int {
	if slices.Contains(above, s) {
		return 0
	}
	most := math.MaxInt
	for _, f := range s.fields {
		if f == nil {
			continue
		}
		if f.list {
			most = min(most, f.bound.entries*f.entry())
		}
		if f.text {
			most = min(most, f.bound.bytes)
		}
		if f.of != nil {
			most = min(most, f.of.least(append(above, s)))
		}
	}
	return most
}

// entry returns the least size of an entry of a list.
func (f *field) entry() int {
	switch {
	case f.of != nil || f.text:
		return 2 // a tag and a length
	case f.packed == protowire.Fixed64Type:
		return 8
	case f.packed == protowire.Fixed32Type:
		return 4
	}
	return 1
}

func (s *shape) add(d protoreflect.FieldDescriptor, bounds map[string]bound, all map[protoreflect.FullName]*shape) {
	message, name := string(d.ContainingMessage().Name()), string(d.Name())
	_, most := boundOf(bounds, message, name)
	f := &field{name: message + "." + name, bound: most, list: d.IsList(), packed: scalar(d.Kind()), slot: -1,
		text: d.Kind() == protoreflect.StringKind || d.Kind() == protoreflect.BytesKind}
	if d.Message() != nil {
		f.of = all[d.Message().FullName()]
	}
	if f.list || f.of != nil {
		f.slot = s.slots
		s.slots++
	}
	for int(d.Number()) >= len(s.fields) {
		s.fields = append(s.fields, nil)
	}
	s.fields[d.Number()] = f
}

// scalar returns how a scalar is encoded in a message.
func scalar(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

const checkOp = "wire: check message"

// check checks an encoded message and returns an error at the first field that exceeds its bound.
// It allocates nothing. Errors: fault.Invalid.
func (s *shape) check(b []byte) error {
	if len(b) <= s.harmless {
		return nil // a malformed message fails when it is decoded
	}
	var counts [maxSlots]int
	for len(b) > 0 {
		number, kind, n := protowire.Number(b[0]>>3), protowire.Type(b[0]&7), 1
		if b[0] >= 0x80 || number == 0 { // nearly all tags are one byte; this one is not
			if number, kind, n = protowire.ConsumeTag(b); n < 0 {
				return malformed(n)
			}
		}
		b = b[n:]
		var f *field
		if int(number) < len(s.fields) {
			f = s.fields[number]
		}
		if kind != protowire.BytesType {
			if n = 1; kind != protowire.VarintType || len(b) == 0 || b[0] >= 0x80 {
				if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
					return malformed(n)
				}
			}
			if f != nil && f.list {
				if err := f.count(&counts, 1); err != nil {
					return err
				}
			}
			b = b[n:]
			continue
		}
		v, n := consumeBytes(b)
		if n < 0 {
			return malformed(n)
		}
		b = b[n:]
		if f == nil {
			continue // the field is dropped
		}
		if err := f.check(&counts, v); err != nil {
			return err
		}
	}
	return nil
}

// consumeBytes does the same as protowire.ConsumeBytes, but is fast if the length takes one byte.
func consumeBytes(b []byte) ([]byte, int) {
	if len(b) > 0 && b[0] < 0x80 && int(b[0]) < len(b) {
		n := 1 + int(b[0])
		return b[1:n], n
	}
	return protowire.ConsumeBytes(b)
}

// check checks one value of a field that is encoded with its length.
func (f *field) check(counts *[maxSlots]int, v []byte) error {
	if f.slot >= 0 {
		entries := 1
		if f.list && f.packed != protowire.BytesType {
			entries = scalars(f.packed, v)
		}
		if err := f.count(counts, entries); err != nil {
			return err
		}
	}
	switch {
	case f.text && len(v) > f.bound.bytes:
		return fault.Field(checkOp, f.name, "%s has %d bytes, at most %d are allowed: shorten it", f.name, len(v), f.bound.bytes)
	case f.of != nil:
		return f.of.check(v)
	}
	return nil
}

// count adds to the number of a list's entries, or of a single message's occurrences, and checks
// it: two occurrences would be merged, and their sizes would add up.
func (f *field) count(counts *[maxSlots]int, entries int) error {
	counts[f.slot] += entries
	switch {
	case f.list && counts[f.slot] > f.bound.entries:
		return fault.Field(checkOp, f.name, "%s has more than %d entries, the maximum", f.name, f.bound.entries)
	case !f.list && counts[f.slot] > 1:
		return fault.Field(checkOp, f.name, "%s occurs twice in its message", f.name)
	}
	return nil
}

// scalars returns how many scalars a packed list has.
func scalars(kind protowire.Type, v []byte) int {
	switch kind {
	case protowire.Fixed64Type:
		return len(v) / 8
	case protowire.Fixed32Type:
		return len(v) / 4
	}
	n := 0
	for _, c := range v {
		if c < 0x80 { // the last byte of a number
			n++
		}
	}
	return n
}

func malformed(n int) error {
	return fault.Newf(fault.Invalid, checkOp, "not a message: %w", protowire.ParseError(n))
}
