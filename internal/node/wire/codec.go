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

// codec is gRPC's codec of protocol buffers, with a check of the bounds of all fields before it.
// The bounds are checked while a message is still encoded, since a decoded message takes up to
// fifty times as much memory. Unknown fields are dropped. gRPC would turn an error of a codec into
// one without a kind. So a message that exceeds a bound is left empty, and an interceptor fetches
// the reason with refusal before any handler sees the message.
type codec struct {
	encoding.CodecV2

	some    atomic.Int64 // len(refused)
	mu      sync.Mutex
	refused map[any]error // by message; under mu
}

func newCodec() *codec {
	return &codec{CodecV2: encoding.GetCodecV2(encodingproto.Name), refused: make(map[any]error)}
}

// Name implements encoding.CodecV2. It returns "", so that calls have gRPC's plain content type, as
// they would without a codec of their own. Any other content type would be built again for each
// call.
func (*codec) Name() string { return "" }

// Marshal implements encoding.CodecV2. It copies a frame, since its sender may reuse the frame
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

// refusal returns why a message was refused, or nil if it was not. It returns the reason only once.
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
