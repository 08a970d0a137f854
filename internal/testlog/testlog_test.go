package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// full is the record of a run with a test that passes, one that fails, two that are skipped, and a package that does
// not build.
const full = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"    a_test.go:3: noise\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestBad","Output":"    a_test.go:7: got 1, want 2\n"}
{"Action":"output","Package":"a","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"a","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestMount/small","Output":"=== RUN   TestMount/small\n"}
{"Action":"output","Package":"a","Test":"TestMount/small","Output":"    a_test.go:9: may not mount\n"}
{"Action":"output","Package":"a","Test":"TestMount/small","Output":"    --- SKIP: TestMount/small (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestMount/small","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestLong","Output":"    a_test.go:11: takes a while\n"}
{"Action":"skip","Package":"a","Test":"TestLong","Elapsed":0}
{"Action":"output","Package":"a","Output":"FAIL\n"}
{"Action":"output","Package":"a","Output":"FAIL\ta\t0.1s\n"}
{"Action":"fail","Package":"a","Elapsed":0.1}
go: downloading something
{"ImportPath":"b","Action":"build-output","Output":"b.go:1:1: expected 'package'\n"}
{"ImportPath":"b","Action":"build-fail"}
{"Action":"start","Package":"b"}
{"Action":"output","Package":"b","Output":"FAIL\tb [build failed]\n"}
{"Action":"fail","Package":"b","Elapsed":0,"FailedBuild":"b"}
{"Action":"output","Package":"c","Output":"ok  \tc\t2.5s\n"}
{"Action":"pass","Package":"c","Elapsed":2.5}
`

func TestRecord(t *testing.T) {
	var out strings.Builder
	results, err := record(strings.NewReader(full), &out)
	if !errors.Is(err, errFailed) {
		t.Errorf("error %v", err)
	}
	const want = `    a_test.go:7: got 1, want 2
--- FAIL: TestBad (0.00s)
FAIL
FAIL	a	0.1s
go: downloading something
b.go:1:1: expected 'package'
FAIL	b [build failed]
ok	c	2.5s
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
	if len(results) != 3 || results[1] != (result{"a", "TestMount/small", true, "a_test.go:9: may not mount"}) {
		t.Errorf("results %+v", results)
	}
}

// TestRecordEndsEarly: a package without its last event has failed, and its output is shown.
func TestRecordEndsEarly(t *testing.T) {
	var out strings.Builder
	in := `{"Action":"output","Package":"a","Test":"TestHang","Output":"panic: test timed out\n"}` + "\n"
	if _, err := record(strings.NewReader(in), &out); !errors.Is(err, errFailed) || !strings.HasPrefix(out.String(), "panic: test timed out\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	if _, err := record(strings.NewReader(`{"Action":"output","Package":"a"}`), &out); !errors.Is(err, errFailed) {
		t.Error(err)
	}
}

// TestReport: a test that passed in another run does not count as skipped. Of the others, those that are not allowed
// to be skipped are an error.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	results, allowed := filepath.Join(dir, "results"), filepath.Join(dir, "allowed")
	if err := appendResults(results, strings.NewReader(full), new(strings.Builder)); !errors.Is(err, errFailed) {
		t.Fatal(err)
	}
	list := func(text string) {
		if err := os.WriteFile(allowed, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list("# those that mount\na TestMount # needs root\n")
	check := func(want error, says string) {
		t.Helper()
		var out strings.Builder
		if err := run([]string{"report", results, allowed}, nil, &out); !errors.Is(err, want) || out.String() != says {
			t.Errorf("%v, want %v; printed\n%s\nwant\n%s", err, want, out.String(), says)
		}
	}
	const mount = "skipped, which this machine cannot run: 1\n  a TestMount/small: a_test.go:9: may not mount\n"
	check(errSkipped, mount+"skipped, which every machine can run: 1\n  a TestLong: a_test.go:11: takes a while\n")
	second := `{"Action":"pass","Package":"a","Test":"TestLong"}` + "\n" + `{"Action":"pass","Package":"a"}`
	if err := appendResults(results, strings.NewReader(second), new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	check(nil, mount+"skipped, which every machine can run: 0\n")
	list("a TestMount # needs root\na TestGone # needs root\n")
	if err := run([]string{"report", results, allowed}, nil, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "a TestGone") {
		t.Errorf("a test that is gone: %v", err)
	}
	list("a TestMount\n")
	if err := run([]string{"report", results, allowed}, nil, new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "allowed:1") {
		t.Errorf("a line without a reason: %v", err)
	}
	if err := run([]string{"report"}, nil, new(strings.Builder)); err == nil || errors.Is(err, errSkipped) {
		t.Errorf("usage: %v", err)
	}
}
