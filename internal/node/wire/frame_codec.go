package wire

import (
	"errors"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Frame is an encoded message of a stream (docs/stream.md). The codec of servers and clients passes
// it on unchanged. gRPC never reuses a frame that was received.
type Frame []byte

// Ask is one search on a stream.
type Ask struct {
	ID, View uint64
	Left     time.Duration // time left until the deadline
	search.Tags
	Search []byte // encoded by AppendRequest
	// Corrects says that the search has corrections, which slaves of earlier versions do not know. It is not
	// encoded.
	Corrects bool
}

// maxLeft bounds the time left until a deadline.
const maxLeft = time.Hour

// AppendAsk appends an ask to a frame for a slave.
func AppendAsk(b []byte, a *Ask) []byte {
	b, at := begin(b, 2)
	b = appendVarint(b, 1, a.ID)
	b = appendVarint(b, 2, a.View)
	b = appendVarint(b, 3, uint64(max(a.Left, 0).Microseconds()))
	b = appendBool(b, 4, a.Low)
	b = appendText(b, 5, a.Tenant)
	b = appendVarint(b, 6, a.Least.Clock)
	b = appendText(b, 7, a.Trace)
	b = appendBool(b, 8, a.Hedge)
	b = appendFixed64(b, 9, a.Least.Mark)
	b, inner := begin(b, 15)
	b = end(append(b, a.Search...), inner)
	return end(b, at)
}

// AppendCancel appends the cancellation of an ask to a frame for a slave. It says that the answer
// is no longer awaited.
func AppendCancel(b []byte, id uint64) []byte {
	b, at := begin(b, 3)
	return end(protowire.AppendVarint(b, id), at)
}

// ReadMasterFrame calls `ask` and `cancel` for each ask and cancellation in a frame for a slave.
// The asks refer to the frame. It stops at the first error of a function. Errors of its own:
// fault.Invalid.
func ReadMasterFrame(frame []byte, ask func(*Ask) error, cancel func(id uint64)) error {
	var a Ask
	f := fields{rest: frame}
	for asks, cancels := 0, 0; f.next(); {
		switch f.tag {
		case 2<<3 | asBytes:
			if asks++; asks > MaxSearches {
				return tooMany("MasterFrame.asks", MaxSearches)
			}
			if a, f.err = parseAsk(f.b); f.err == nil {
				f.err = ask(&a)
			}
		case 3<<3 | asBytes, 3<<3 | asVarint:
			list := varints[uint64](&f, nil, "MasterFrame.cancels", MaxSearches-cancels)
			cancels += len(list)
			for _, id := range list {
				cancel(id)
			}
		}
	}
	return f.err
}

func parseAsk(b []byte) (a Ask, err error) {
	seen := false
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asVarint:
			a.ID = f.n
		case 2<<3 | asVarint:
			a.View = f.n
		case 3<<3 | asVarint:
			a.Left = time.Duration(min(f.n, uint64(maxLeft.Microseconds()))) * time.Microsecond
		case 4<<3 | asVarint:
			a.Low = f.n != 0
		case 5<<3 | asBytes:
			a.Tenant = f.text("Ask.tenant", MaxTenant)
		case 6<<3 | asVarint:
			a.Least.Clock = f.n
		case 7<<3 | asBytes:
			if a.Trace = string(f.b[:min(len(f.b), TraceBytes)]); len(f.b) > TraceBytes {
				f.err = tooLong("Ask.trace", len(f.b), TraceBytes)
			}
		case 8<<3 | asVarint:
			a.Hedge = f.n != 0
		case 9<<3 | asFixed64:
			a.Least.Mark = f.n
		case 15<<3 | asBytes:
			if f.once(&seen, "Ask.search") {
				a.Search = f.b
			}
		}
	}
	return a, f.err
}

// Reply is the reply to an ask. It refers to the frame that contained it.
type Reply struct {
	ID      uint64
	encoded []byte
}

// AppendReply appends an answer, or the reason why there is none, to a frame for a master.
func AppendReply(b []byte, id uint64, a *search.Answer, err error) []byte {
	b, at := begin(b, 2)
	b = appendVarint(b, 1, id)
	if err == nil {
		var inner int
		b, inner = begin(b, 2)
		b = end(AppendAnswer(b, a), inner)
		return end(b, at)
	}
	kind, detail, text := describe(err)
	b, inner := begin(b, 3)
	b = appendVarint(b, 1, uint64(kind))
	b = appendText(b, 2, detail.GetOp())
	b = end(appendText(b, 3, detail.GetField()), inner)
	return end(appendText(b, 4, clean(text)), at)
}

// AppendGoodbye appends a goodbye to a frame for a master. It says that the slave accepts no more
// asks.
func AppendGoodbye(b []byte) []byte { return appendBool(b, 3, true) }

// ReadSlaveFrame calls `reply` for each reply in a frame for a master, and reports whether the
// frame has a goodbye. It stops at the first error of `reply`. Errors of its own: fault.Invalid.
func ReadSlaveFrame(frame []byte, reply func(Reply) error) (goodbye bool, err error) {
	f := fields{rest: frame}
	for n := 0; f.next(); {
		switch f.tag {
		case 2<<3 | asBytes:
			if n++; n > MaxSearches {
				return goodbye, tooMany("SlaveFrame.replies", MaxSearches)
			}
			var r Reply
			if r, f.err = parseReply(f.b); f.err == nil {
				f.err = reply(r)
			}
		case 3<<3 | asVarint:
			goodbye = f.n != 0
		}
	}
	return goodbye, f.err
}

// parseReply reads only the id of a reply. The caller that waits for the answer reads the rest.
func parseReply(b []byte) (Reply, error) {
	r := Reply{encoded: b}
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|asVarint {
			r.ID = f.n
		}
	}
	return r, f.err
}

// Answer returns the answer, or the error that was sent instead. Errors of its own: fault.Invalid.
func (r Reply) Answer() (*search.Answer, error) {
	var answer, failure []byte
	var text string
	var answered, failed bool
	f := fields{rest: r.encoded}
	for f.next() {
		switch f.tag {
		case 2<<3 | asBytes:
			if f.once(&answered, "Reply.answer") {
				answer = f.b
			}
		case 3<<3 | asBytes:
			if f.once(&failed, "Reply.fault") {
				failure = f.b
			}
		case 4<<3 | asBytes:
			text = f.text("Reply.text", 2*maxMessage)
		}
	}
	switch {
	case f.err != nil:
		return nil, f.err
	case failed:
		return nil, parseFault(failure, text)
	}
	return ParseAnswer(answer)
}

// parseFault returns the error in a reply.
func parseFault(b []byte, text string) error {
	e := &fault.Error{Err: errors.New(text)}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asVarint:
			e.Kind = fault.Kind(uint32(f.n))
		case 2<<3 | asBytes:
			e.Op = f.text("Fault.op", 2*maxMessage)
		case 3<<3 | asBytes:
			e.Field = f.text("Fault.field", 2*maxMessage)
		}
	}
	if f.err != nil {
		return f.err
	}
	return e
}

// CheckTags returns an error if tags cannot be sent. A tenant has at most MaxTenant bytes, and a
// trace context has TraceBytes. Errors: fault.Invalid.
func CheckTags(t *search.Tags) error {
	switch {
	case len(t.Tenant) > MaxTenant:
		return tooLong("Ask.tenant", len(t.Tenant), MaxTenant)
	case !utf8.ValidString(t.Tenant):
		return fault.Field(checkOp, "Ask.tenant", "Ask.tenant is not UTF-8")
	case t.Trace != "" && len(t.Trace) != TraceBytes:
		return fault.Field(checkOp, "Ask.trace", "a trace context of %d bytes; it has %d", len(t.Trace), TraceBytes)
	}
	return nil
}

// HelloFrame returns the frame that opens a stream.
func HelloFrame(h *pb.Hello) (Frame, error) {
	return proto.Marshal(&pb.MasterFrame{Hello: h})
}

// ParseHello reads the first frame of a stream, from either side. Errors: fault.Invalid.
func ParseHello(frame Frame) (*pb.Hello, error) {
	m := new(pb.MasterFrame)
	if err := shapes()[m.ProtoReflect().Descriptor().FullName()].check(frame); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(frame, m); err != nil || m.GetHello().GetVersion() == 0 {
		return nil, fault.Newf(fault.Invalid, checkOp, "a stream begins without a hello; is the peer a program of this system?")
	}
	if len(m.GetAsks())+len(m.GetCancels()) > 0 { // in a frame for a master these fields are replies and a goodbye
		return nil, fault.Newf(fault.Invalid, checkOp, "the frame of a hello holds more than that; nobody would reply to it")
	}
	return m.GetHello(), nil
}
