package httpapi

import (
	"bytes"
	"encoding/json"
	"sync"
)

// jsonType is shared by all answers and must not change.
var jsonType = []string{"application/json"}

// Buffer takes an answer, perhaps through the JSON encoder that writes to it.
type Buffer struct {
	bytes.Buffer
	json *json.Encoder
}

// buffers are kept for reuse; they hold nothing of any request.
var buffers = sync.Pool{New: func() any {
	b := new(Buffer)
	b.json = json.NewEncoder(&b.Buffer)
	b.json.SetEscapeHTML(false)
	return b
}}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free gives the buffer back; large ones are left to the collector.
func (b *Buffer) Free() {
	const most = 64 << 10
	if b.Cap() > most {
		return
	}
	b.Reset()
	buffers.Put(b)
}
