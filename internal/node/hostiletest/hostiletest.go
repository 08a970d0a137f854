// Package hostiletest makes messages with values that no peer has a reason to send, for tests.
package hostiletest

import (
	"math"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// extremes returns values of a field that no peer has a reason to send. It returns none for a
// message.
func extremes(f protoreflect.FieldDescriptor) (out []protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		for _, v := range []uint64{0, 1, 1 << 31, 1 << 32, 1<<62 + 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
			out = append(out, protoreflect.ValueOfUint64(v))
		}
	case protoreflect.Uint32Kind:
		for _, v := range []uint32{0, 1, 1 << 31, math.MaxUint32} {
			out = append(out, protoreflect.ValueOfUint32(v))
		}
	case protoreflect.EnumKind:
		for _, v := range []protoreflect.EnumNumber{-1, 3, 255, 256, 258, math.MaxInt32, math.MinInt32} {
			out = append(out, protoreflect.ValueOfEnum(v))
		}
	case protoreflect.BoolKind:
		out = append(out, protoreflect.ValueOfBool(false), protoreflect.ValueOfBool(true))
	case protoreflect.StringKind:
		for _, v := range []string{"", "\x00", "../../x", "slave-0\nslave-1", strings.Repeat("x", 64)} {
			out = append(out, protoreflect.ValueOfString(v))
		}
	}
	return out
}

// Each calls `try` with a copy of a message for each extreme value of each field, including the
// fields of messages and list entries inside.
func Each(base proto.Message, try func(field string, m proto.Message)) {
	var walk func(path string, at func(root protoreflect.Message) protoreflect.Message, d protoreflect.MessageDescriptor, depth int)
	walk = func(path string, at func(protoreflect.Message) protoreflect.Message, d protoreflect.MessageDescriptor, depth int) {
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			name := path + string(f.Name())
			if f.Message() != nil {
				if depth < 4 {
					walk(name+".", func(root protoreflect.Message) protoreflect.Message { return inside(at(root), f) }, f.Message(), depth+1)
				}
				continue
			}
			for _, v := range extremes(f) {
				m := proto.Clone(base)
				to := at(m.ProtoReflect())
				if f.IsList() {
					to.Mutable(f).List().Append(v)
				} else {
					to.Set(f, v)
				}
				try(name, m)
			}
		}
	}
	walk("", func(m protoreflect.Message) protoreflect.Message { return m }, base.ProtoReflect().Descriptor(), 0)
}

// inside returns the message in a field, or the last entry if the field is a list. It creates the
// message if it is missing.
func inside(m protoreflect.Message, f protoreflect.FieldDescriptor) protoreflect.Message {
	if !f.IsList() {
		return m.Mutable(f).Message()
	}
	list := m.Mutable(f).List()
	if list.Len() == 0 {
		list.AppendMutable()
	}
	return list.Get(list.Len() - 1).Message()
}
