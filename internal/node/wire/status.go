package wire

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"adshard/fault"
	"adshard/schema/pb"
)

// kindCodes gives the gRPC code of each kind, for peers that know only codes. The programs of this
// system read the kind from the Fault detail.
var kindCodes = [...]codes.Code{
	fault.Internal:    codes.Internal,
	fault.Invalid:     codes.InvalidArgument,
	fault.NotFound:    codes.NotFound,
	fault.Conflict:    codes.AlreadyExists,
	fault.Unavailable: codes.Unavailable,
	fault.Deadline:    codes.DeadlineExceeded,
	fault.Cancelled:   codes.Canceled,
	fault.Overloaded:  codes.ResourceExhausted,
	fault.Stale:       codes.FailedPrecondition,
	fault.Corrupt:     codes.DataLoss,
	fault.Version:     codes.Unimplemented,
	fault.NoSpace:     codes.ResourceExhausted,
	fault.Locked:      codes.Aborted,
	fault.Behind:      codes.Unavailable,
	fault.Forbidden:   codes.PermissionDenied,
}

// maxMessage bounds an error's text on the wire, in bytes.
const maxMessage = 2048

// ToStatus turns err into a gRPC status error with a pb.Fault as detail. It returns nil for nil,
// and does not change an error that is a status already.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	kind, detail, text := describe(err)
	st := status.New(codeOf(kind), clean(text))
	if with, derr := st.WithDetails(detail); derr == nil {
		st = with
	}
	return st.Err()
}

// describe splits err such that FromStatus restores the same text. An operation at the beginning of
// the text goes into the detail.
func describe(err error) (fault.Kind, *pb.Fault, string) {
	kind := fault.KindOf(err)
	detail := &pb.Fault{Kind: uint32(kind), Field: clean(fault.FieldOf(err))}
	if outer, ok := err.(*fault.Error); ok && outer.Op != "" {
		detail.Op = clean(outer.Op)
		return kind, detail, outer.Err.Error()
	}
	return kind, detail, err.Error()
}

// clean makes a text fit for a status: valid UTF-8, without which the details would be lost, and no
// longer than headers may be.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD") // which may make it longer
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

func codeOf(kind fault.Kind) codes.Code {
	if int(kind) < len(kindCodes) {
		return kindCodes[kind]
	}
	return codes.Unknown
}

// FromStatus turns a status error that a call returned into a fault.Error. A status without a
// Fault, as gRPC itself makes it, gets its kind from the code. An error that has a kind already is
// returned as it is, and so is nil.
func FromStatus(err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	st, ok := status.FromError(err)
	if !ok {
		return fault.New(fault.KindOf(err), "", err)
	}
	cause := errors.New(st.Message())
	for _, d := range st.Details() {
		if f, ok := d.(*pb.Fault); ok {
			return &fault.Error{Kind: fault.Kind(f.GetKind()), Op: f.GetOp(), Field: f.GetField(), Err: cause}
		}
	}
	return fault.New(kindOfCode(st.Code()), "grpc", cause)
}

// kindOfCode returns the kind for the code of a status that gRPC itself made.
func kindOfCode(code codes.Code) fault.Kind {
	for kind, c := range kindCodes {
		if c == code {
			return fault.Kind(kind)
		}
	}
	return fault.Internal
}

// timeOver returns the error of a context that has ended, with the matching kind.
func timeOver(ctx context.Context, op string) error {
	return fault.New(fault.KindOf(ctx.Err()), op, ctx.Err())
}
