package wire

import (
	"context"
	"sync"

	"adshard/schema/pb"
	"adshard/search"
)

// Shared is a request that goes to many slaves. In a context of With its message
// is made once, by whoever needs it first, and so is its encoding. Make it with Share.
type Shared struct {
	r       *search.Request
	once    sync.Once
	message *pb.SearchRequest
	encode  sync.Once
	encoded []byte
}

type sharedKey struct{}

// Share returns r to be sent to many slaves; r must not change any more.
func Share(r *search.Request) *Shared { return &Shared{r: r} }

// With returns a context for the call that sends the request to one slave.
func (s *Shared) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, sharedKey{}, s)
}

// Message returns the message of r. In a context of With it is shared, so nobody
// may change it.
func Message(ctx context.Context, r *search.Request) *pb.SearchRequest {
	s, ok := ctx.Value(sharedKey{}).(*Shared)
	if !ok || s.r != r {
		return FromRequest(r)
	}
	s.once.Do(func() { s.message = FromRequest(r) })
	return s.message
}

// Encoded returns the encoding of r (AppendRequest). In a context of With it is
// shared, so nobody may change it.
func Encoded(ctx context.Context, r *search.Request) []byte {
	s, ok := ctx.Value(sharedKey{}).(*Shared)
	if !ok || s.r != r {
		return AppendRequest(nil, r)
	}
	s.encode.Do(func() { s.encoded = AppendRequest(make([]byte, 0, usualRequest), r) })
	return s.encoded
}

// usualRequest is the room that most requests need, in bytes.
const usualRequest = 512
