package fault_test

import (
	"errors"
	"testing"

	"adshard/fault"
)

func TestRecover(t *testing.T) {
	run := func(f func() error, caught func(any)) (err error) {
		defer fault.Recover("test: run", &err, caught)
		return f()
	}
	var cause any
	for _, caught := range []func(any){nil, func(c any) { cause = c }} {
		err := run(func() error { panic("boom") }, caught)
		if fault.KindOf(err) != fault.Internal || err.Error() != "test: run: panic: boom; please report it" {
			t.Error(err)
		}
	}
	if cause != "boom" {
		t.Errorf("caught %v", cause)
	}
	plain := errors.New("plain")
	if err := run(func() error { return plain }, func(any) { t.Error("there was no panic") }); err != plain {
		t.Error(err)
	}
}
