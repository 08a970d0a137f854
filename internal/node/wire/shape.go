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

// shape is a message's fields with their bounds, for checking encoded messages.
type shape struct {
	fields []*field // by number
	slots  int      // fields that are counted
	// harmless: a message of at most this many bytes exceeds no bound, neither its
	// own nor that of a message in it. Most messages are, and are not looked into.
	harmless int
}

// field is one field of a shape.
type field struct {
	name   string // Message.field
	bound  bound
	list   bool
	packed protowire.Type // of a list's scalars; BytesType: they are not packed
	text   bool           // string or bytes
	of     *shape         // of a message; else nil
	slot   int            // where it is counted: lists and single messages; else -1
}

// maxSlots bounds the fields of one message that are counted.
const maxSlots = 16

// shapes returns the shape of every message of the schema, by full name.
var shapes = sync.OnceValue(func() map[protoreflect.FullName]*shape {
	return shapesOf(bounds(), pb.File_adshard_v1_control_proto, pb.File_adshard_v1_nodedata_proto,
		pb.File_adshard_v1_records_proto, pb.File_adshard_v1_load_proto, pb.File_adshard_v1_search_proto, pb.File_adshard_v1_query_proto, pb.File_adshard_v1_copy_proto)
})

// shapesOf makes the shapes of all messages of files that import only each
// other.
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

// least returns the size of the largest message that cannot exceed a bound; above
// are the shapes that it lies in.
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

// scalar returns how a scalar stands in an encoded message.
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

// check reads an encoded message and fails with fault.Invalid at the first
// field that exceeds its bound. It allocates nothing.
func (s *shape) check(b []byte) error {
	if len(b) <= s.harmless {
		return nil // what is malformed is found when it is decoded
	}
	var counts [maxSlots]int
	for len(b) > 0 {
		number, kind, n := protowire.Number(b[0]>>3), protowire.Type(b[0]&7), 1
		if b[0] >= 0x80 || number == 0 { // the tag is not one byte, as nearly all are
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
			continue // it is not kept
		}
		if err := f.check(&counts, v); err != nil {
			return err
		}
	}
	return nil
}

// consumeBytes is protowire.ConsumeBytes, quick where the length takes one byte.
func consumeBytes(b []byte) ([]byte, int) {
	if len(b) > 0 && b[0] < 0x80 && int(b[0]) < len(b) {
		n := 1 + int(b[0])
		return b[1:n], n
	}
	return protowire.ConsumeBytes(b)
}

// check checks one value of a field that has a length.
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

// count counts the entries of a list, or the occurrences of a single message: two
// would be merged, and their sizes would add up.
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
