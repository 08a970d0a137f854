package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"adshard/fault"
)

func TestFaultsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zá: ]{0,40}`)
		kind := fault.Kind(rapid.IntRange(0, int(fault.Locked)).Draw(t, "kind"))
		var err error = &fault.Error{Kind: kind, Op: text.Draw(t, "op"), Field: text.Draw(t, "field"),
			Err: errors.New(text.Draw(t, "cause"))}
		for range rapid.IntRange(0, 2).Draw(t, "wraps") {
			err = fmt.Errorf("%s: %w", text.Draw(t, "wrap"), err)
		}
		back := FromStatus(ToStatus(err))
		if fault.KindOf(back) != kind || fault.FieldOf(back) != fault.FieldOf(err) || back.Error() != err.Error() {
			t.Fatalf("%v (%s, field %q) came back as %v (%s, field %q)", err, kind, fault.FieldOf(err),
				back, fault.KindOf(back), fault.FieldOf(back))
		}
		if again := FromStatus(back); again != back {
			t.Fatalf("a fault was translated twice: %v", again)
		}
	})
}

func TestKindSurvivesABadText(t *testing.T) {
	long := make([]byte, 1<<20)
	err := fault.Newf(fault.NoSpace, "rocks: \xff", "%s\xfe", long)
	if back := FromStatus(ToStatus(err)); !fault.Is(back, fault.NoSpace) || len(back.Error()) > 2*maxMessage {
		t.Fatalf("kind %s, %d bytes", fault.KindOf(back), len(back.Error()))
	}
}

// TestKindSurvivesABadTextOverAStream: what replaces bytes that are not UTF-8 is longer
// than they are.
func TestKindSurvivesABadTextOverAStream(t *testing.T) {
	bad := strings.Repeat("a\xff", maxMessage)
	frame := AppendReply(nil, 1, nil, &fault.Error{Kind: fault.NoSpace, Op: bad, Field: bad, Err: errors.New(bad)})
	if _, err := ReadSlaveFrame(frame, func(r Reply) error {
		if _, err := r.Answer(); !fault.Is(err, fault.NoSpace) {
			t.Errorf("kind %s: %.100v", fault.KindOf(err), err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestNilStaysNil(t *testing.T) {
	if ToStatus(nil) != nil || FromStatus(nil) != nil {
		t.Fatal("nil became an error")
	}
}

func TestStatusesOfGRPCItself(t *testing.T) {
	for code, want := range map[codes.Code]fault.Kind{
		codes.Unavailable:       fault.Unavailable,
		codes.DeadlineExceeded:  fault.Deadline,
		codes.Canceled:          fault.Cancelled,
		codes.ResourceExhausted: fault.Overloaded,
		codes.Unimplemented:     fault.Version,
		codes.Unknown:           fault.Internal,
		codes.OutOfRange:        fault.Internal,
	} {
		if got := fault.KindOf(FromStatus(status.Error(code, "x"))); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
	if got := fault.KindOf(FromStatus(context.DeadlineExceeded)); got != fault.Deadline {
		t.Errorf("a context's error is %s", got)
	}
	st := status.Error(codes.NotFound, "x")
	if ToStatus(st) != st {
		t.Error("a status was wrapped")
	}
}
