// Package fault gives errors a kind that survives package and process
// boundaries, so that a caller decides by kind and never by text.
//
// An error carries a kind, the operation that failed and its cause. It is built with New where the
// kind is known, and wrapped with fmt.Errorf("…: %w", err) on its way up. KindOf returns its kind.
// internal/node maps kinds to gRPC codes, HTTP statuses and exit statuses.
//
// Goals: a short closed list of kinds; texts that say what to do.
// Non-goals: stack traces, codes per message, translation.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what a caller can do about an error.
type Kind uint8

// The kinds. The numbers go over the wire: append, never reorder.
const (
	Internal    Kind = iota // a defect or an unknown cause; report it
	Invalid                 // the request or input is wrong; correct it
	NotFound                // what was named was not found
	Conflict                // it already exists, or is in a different state than assumed
	Unavailable             // a peer or resource cannot be reached; try again later
	Deadline                // the deadline has passed
	Cancelled               // the caller gave up
	Overloaded              // refused at once, so that others stay fast; try again after a pause
	Stale                   // the caller's epoch, view or position is too old
	Corrupt                 // stored bytes are damaged
	Version                 // stored data have another format version
	NoSpace                 // the disk is full
	Locked                  // another process holds the database or store
	Behind                  // the data do not have the requested changes yet
	Forbidden               // the caller's role does not allow it, or the caller is unknown
)

var kindNames = [...]string{
	"internal", "invalid", "not_found", "conflict", "unavailable", "deadline", "cancelled",
	"overloaded", "stale", "corrupt", "version", "no_space", "locked", "behind", "forbidden",
}

// String returns the kind's name as used in logs and JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Error is an error that has a kind.
type Error struct {
	Kind Kind
	// Op is the operation that failed, as "package: verb", e.g. "rocks: open".
	Op string
	// Field names the faulty input if Kind is Invalid and the input has a name.
	Field string
	// Err is the cause; its text says what happened and what to do.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New wraps err with a kind and an operation. It returns nil if err is nil.
func New(kind Kind, op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Op: op, Err: err}
}

// Newf is New with a formatted cause. The format may use %w.
func Newf(kind Kind, op, format string, args ...any) error {
	return &Error{Kind: kind, Op: op, Err: fmt.Errorf(format, args...)}
}

// Field is Newf for a faulty input field, such as a request's parameter, with kind Invalid.
func Field(op, field, format string, args ...any) error {
	return &Error{Kind: Invalid, Op: op, Field: field, Err: fmt.Errorf(format, args...)}
}

// Recover turns a panic of the surrounding function into an Internal error of op, so that a bad
// request fails without ending the process. It must be deferred directly. If caught is not nil, it
// is called with the panic's value first.
//
//	func (s *Server) search(…) (answer *Answer, err error) {
//		defer fault.Recover("slave: search", &err, s.panicked)
func Recover(op string, err *error, caught func(cause any)) {
	cause := recover()
	if cause == nil {
		return
	}
	if caught != nil {
		caught(cause)
	}
	*err = Newf(Internal, op, "panic: %v; please report it", cause)
}

// KindOf returns the kind of the outermost Error in err's chain. Context errors have the kinds
// Deadline and Cancelled, all other errors Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.DeadlineExceeded):
		return Deadline
	case errors.Is(err, context.Canceled):
		return Cancelled
	}
	return Internal
}

// FieldOf returns the faulty input named in err's chain, or "".
func FieldOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// Is reports whether err is of kind k. It returns false if err is nil.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }
