package httpapi

import (
	"bytes"
	"encoding/json"
	"sync"
)

// jsonType is shared by all answers and must not change.
var jsonType = []string{"application/json"}

// encoder is a buffer with a JSON encoder that writes to it.
type encoder struct {
	bytes.Buffer
	json *json.Encoder
}

// encoders keeps buffers for reuse; it holds nothing of any request.
var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(&e.Buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

// free gives the encoder back; large buffers are left to the collector.
func (e *encoder) free() {
	const most = 64 << 10
	if e.Cap() > most {
		return
	}
	e.Reset()
	encoders.Put(e)
}
