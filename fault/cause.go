package fault

import "errors"

// Cause returns the text of err without the operations that led to it. The operations are for logs,
// the cause is for people.
func Cause(err error) string {
	var e *Error
	for errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}
