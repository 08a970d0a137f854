package wire

import (
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"adshard/fault"
)

// codec is gRPC's codec of protocol buffers, with the bounds of all fields
// before it: they are checked while a message is still bytes, since decoding
// makes up to fifty times as much of them. What a message has beside its known
// fields is dropped. gRPC would turn an error of a codec into one without a kind, so a
// message that exceeds a bound stays empty, and an interceptor fetches the reason with
// refusal before any handler sees the message.
type codec struct {
	encoding.CodecV2

	some    atomic.Int64 // len(refused)
	mu      sync.Mutex
	refused map[any]error // by message; under mu
}

func newCodec() *codec {
	return &codec{CodecV2: encoding.GetCodecV2(encodingproto.Name), refused: make(map[any]error)}
}

// Name implements encoding.CodecV2. It is empty, so that calls have gRPC's plain
// content type, as without a codec of their own: another one is put together for
// each call.
func (*codec) Name() string { return "" }

// Marshal implements encoding.CodecV2. A frame is copied, since its sender reuses it
// before gRPC has written it.
func (c *codec) Marshal(v any) (mem.BufferSlice, error) {
	if frame, ok := v.(Frame); ok {
		return mem.BufferSlice{mem.Copy(frame, mem.DefaultBufferPool())}, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c *codec) Unmarshal(data mem.BufferSlice, v any) error {
	if frame, ok := v.(*Frame); ok {
		*frame = data.Materialize()
		return nil
	}
	m, ok := v.(proto.Message)
	if !ok {
		return fault.Newf(fault.Internal, checkOp, "%T is not a message", v)
	}
	b := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer b.Free()
	s, known := shapes()[m.ProtoReflect().Descriptor().FullName()]
	if !known {
		return fault.Newf(fault.Internal, checkOp, "%T is not a message of the schema", v)
	}
	if err := s.check(b.ReadOnlyData()); err != nil {
		c.refuse(m, err)
		return nil
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b.ReadOnlyData(), m)
}

func (c *codec) refuse(m any, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[m] = err
	c.some.Store(int64(len(c.refused)))
}

// refusal returns why a message is refused, once, or nil if it is not.
func (c *codec) refusal(m any) error {
	if c.some.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.refused[m]
	delete(c.refused, m)
	c.some.Store(int64(len(c.refused)))
	return err
}
