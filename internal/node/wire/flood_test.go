package wire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/internal/node/wire"
	"adshard/search/words"
)

// Frames of HTTP/2 (RFC 9113) as a peer that keeps to no rules makes them: clients of gRPC cannot.
const (
	headersFrame, resetFrame, settingsFrame, pingFrame, windowFrame, continuationFrame = 1, 3, 4, 6, 8, 9
	endHeaders                                                                         = 4
	preface                                                                            = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = binary.BigEndian.AppendUint32(append(b, flags), stream)
	return append(b, payload...)
}

// fields encodes headers as literals without an index.
func fields(list ...string) (b []byte) {
	for i := 0; i < len(list); i += 2 {
		b = append(b, 0)
		for _, text := range list[i : i+2] {
			b = append(append(b, byte(len(text))), text...)
		}
	}
	return b
}

// flood sends a connection's frames number n.
type flood func(n uint32) []byte

func floods() map[string]flood {
	call := fields(":method", "POST", ":scheme", "http", ":path", "/x/hold", ":authority", "a",
		"content-type", "application/grpc", "te", "trailers", "grpc-timeout", "20S")
	begun := func(n uint32, more []byte) []byte { // a call whose headers never end
		if n == 0 {
			return append(frame(headersFrame, 0, 1, call), more...)
		}
		return more
	}
	header := fields("x-filler", string(bytes.Repeat([]byte("x"), 100)))
	return map[string]flood{
		"rapid reset": func(n uint32) []byte {
			return append(frame(headersFrame, endHeaders, 2*n+1, call), frame(resetFrame, 0, 2*n+1, []byte{0, 0, 0, 8})...)
		},
		"calls without end":       func(n uint32) []byte { return frame(headersFrame, endHeaders, 2*n+1, call) },
		"continuations":           func(n uint32) []byte { return begun(n, frame(continuationFrame, 0, 1, bytes.Repeat(header, 100))) },
		"empty continuations":     func(n uint32) []byte { return begun(n, frame(continuationFrame, 0, 1, nil)) },
		"continuation of nothing": func(n uint32) []byte { return frame(continuationFrame, 0, 2*n+1, header) },
		"settings":                func(uint32) []byte { return frame(settingsFrame, 0, 0, nil) },
		"pings":                   func(uint32) []byte { return frame(pingFrame, 0, 0, make([]byte, 8)) },
		"windows":                 func(uint32) []byte { return frame(windowFrame, 0, 0, []byte{0, 0, 0, 1}) },
		"resets of nothing":       func(n uint32) []byte { return frame(resetFrame, 0, 2*n+1, []byte{0, 0, 0, 8}) },
	}
}

// TestFloods of frames on each kind of port that speaks gRPC: no more calls run than one connection may have, what they
// leave in memory is bounded, and another connection is answered all the while.
func TestFloods(t *testing.T) {
	for port, c := range map[string]struct {
		options []grpc.ServerOption
		most    int64
	}{
		"slave": {wire.SlaveOptions(words.Default, nil), wire.MaxSearches}, "query": {wire.QueryOptions(nil), wire.MaxQueries},
		"control": {wire.ControlOptions(words.Default, nil), wire.MaxPolls},
	} {
		for name, f := range floods() {
			t.Run(port+"/"+name, func(t *testing.T) {
				flooded(t, c.options, c.most, f, name == "rapid reset" || name == "calls without end")
			})
		}
	}
}

// flooded floods a server whose options allow a given number of calls; calls: the frames are of calls.
func flooded(t *testing.T, options []grpc.ServerOption, allowed int64, f flood, calls bool) {
	var running, most atomic.Int64
	end := make(chan struct{})
	server := grpc.NewServer(append(options, grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		if method, _ := grpc.MethodFromServerStream(s); method != "/x/hold" {
			return nil
		}
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-end // as a search that does not look at its context
		return nil
	}))...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	defer close(end)
	other, err := wire.Dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	answered := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := other.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/x/other")
		if err == nil {
			err = s.RecvMsg(&wire.Frame{})
		}
		if err != io.EOF {
			t.Errorf("another connection: %v", err)
		}
	}
	answered()
	before := heap()
	sent := pour(t, l.Addr().String(), f, answered, func() {
		for end := time.Now().Add(10 * time.Second); calls && most.Load() < allowed && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	})
	switch n := most.Load(); {
	case n > allowed:
		t.Errorf("%d calls ran at a time, %d may", n, allowed)
	case n < allowed && calls:
		t.Errorf("%d calls ran at a time: the flood does not reach the bound of %d", n, allowed)
	}
	if after := heap(); after > before+32<<20 {
		t.Errorf("%d bytes of frames left %d in memory", sent, after-before)
	}
}

// pour sends up to 20,000 frames, until they are taken no more: the server has closed the connection, or does not read.
// The connection is open until last returns.
func pour(t *testing.T, address string, f flood, meanwhile, last func()) (sent int) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	drained := make(chan struct{})
	defer func() { <-drained }()
	defer conn.Close()
	go func() { defer close(drained); _, _ = io.Copy(io.Discard, conn) }()
	if _, err := conn.Write(append([]byte(preface), frame(settingsFrame, 0, 0, nil)...)); err != nil {
		t.Fatal(err)
	}
	const frames, at = 20_000, 100
	for n := uint32(0); n < frames; n += at {
		var b []byte
		for i := range uint32(at) {
			b = append(b, f(n+i)...)
		}
		_ = conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		written, err := conn.Write(b)
		if sent += written; err != nil {
			break
		}
		if n%(frames/4) == 0 {
			meanwhile()
		}
	}
	meanwhile()
	last()
	return sent
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
