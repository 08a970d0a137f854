package background

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDo: work is done one after another and at the same time, and a panic is passed on to the
// caller.
func TestDo(t *testing.T) {
	threads := new(Threads)
	defer threads.Close()
	var all sync.WaitGroup
	done := make([]bool, 3*kept)
	begun := make(chan struct{}, len(done))
	for i := range done {
		all.Go(func() {
			threads.Do(func() {
				begun <- struct{}{}
				for len(begun) < len(done) { // all of them are under way
					runtime.Gosched()
				}
				done[i] = true
			})
		})
	}
	all.Wait()
	for i := range done {
		if !done[i] {
			t.Errorf("%d was not done", i)
		}
	}
	func() {
		defer func() {
			if text, ok := recover().(string); !ok || !strings.Contains(text, "no good") || !strings.Contains(text, "TestDo") {
				t.Errorf("recovered %v", text)
			}
		}()
		threads.Do(func() { panic("no good") })
	}()
	again := false
	if threads.Do(func() { again = true }); !again {
		t.Error("nothing is done after a panic")
	}
}

// TestNice: the priority is lowered on systems that show it, such as Linux.
func TestNice(t *testing.T) {
	nice := func() int {
		text, err := os.ReadFile("/proc/thread-self/stat")
		if err != nil {
			t.Skip("there are no priorities of threads here: ", err)
		}
		after := text[strings.LastIndexByte(string(text), ')')+2:]
		n, err := strconv.Atoi(strings.Fields(string(after))[16])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	threads := new(Threads)
	defer threads.Close()
	own, bulk := nice(), 0
	threads.Do(func() { bulk = nice() })
	if bulk != min(own+niceness, 19) || nice() != own {
		t.Errorf("bulk work has the niceness %d, this goroutine %d and then %d", bulk, own, nice())
	}
}
