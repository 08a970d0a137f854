package httpapi

import (
	"bytes"
	"encoding/json"
	"sync"
)

// jsonType is shared by all answers, so it must not be changed.
var jsonType = []string{"application/json"}

// Buffer collects an answer, written directly or by its JSON encoder.
type Buffer struct {
	bytes.Buffer
	json *json.Encoder
}

// buffers pools buffers for reuse. They hold nothing of any request.
var buffers = sync.Pool{New: func() any {
	b := new(Buffer)
	b.json = json.NewEncoder(&b.Buffer)
	b.json.SetEscapeHTML(false)
	return b
}}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free gives the buffer back for reuse, except a large one, which is left to the garbage collector.
func (b *Buffer) Free() {
	const most = 64 << 10
	if b.Cap() > most {
		return
	}
	b.Reset()
	buffers.Put(b)
}
