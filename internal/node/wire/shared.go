package wire

import (
	"sync"

	"adshard/schema/pb"
	"adshard/search"
)

// Shared is a request that goes to many slaves. Its message is made once, by whoever
// needs it first, and so is its encoding. Make it with Share.
type Shared struct {
	r *search.Request
	*forms
}

// forms are what all copies of a request with other tags have in common.
type forms struct {
	once    sync.Once
	message *pb.SearchRequest
	encode  sync.Once
	encoded []byte
}

// Share returns r to be sent to many slaves; r must not change any more.
func Share(r *search.Request) *Shared { return &Shared{r, new(forms)} }

// With returns the request with other tags, which the encoding does not have.
func (s *Shared) With(t search.Tags) *Shared {
	own := *s.r
	own.Tags = t
	return &Shared{&own, s.forms}
}

// Request returns the request itself, which nobody may change.
func (s *Shared) Request() *search.Request { return s.r }

// Message returns the message of the request, which nobody may change.
func (s *Shared) Message() *pb.SearchRequest {
	s.once.Do(func() { s.message = FromRequest(s.r) })
	return s.message
}

// Encoded returns the encoding of the request (AppendRequest), which nobody may
// change.
func (s *Shared) Encoded() []byte {
	s.encode.Do(func() { s.encoded = AppendRequest(make([]byte, 0, usualRequest), s.r) })
	return s.encoded
}

// usualRequest is the room that most requests need, in bytes.
const usualRequest = 512
