package faults

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/internal/clustertest"
)

// TestMain runs the tests in their own namespaces if that is allowed, or, if this program was started as a part of a
// cluster, that part.
func TestMain(m *testing.M) {
	clustertest.BePart()
	if os.Getenv(inside) == "" {
		if status, ok := enclose(); ok {
			os.Exit(status)
		}
	}
	os.Exit(m.Run())
}

// settings of a run come from the environment.
type settings struct {
	from, count uint64   // seeds
	only        []uint64 // if not empty, only these
	length      time.Duration
	out         string // file of JSON lines to append to, or empty for none
	logs        string // directory for the processes' logs, or empty for none
	old         string // directory of programs of an earlier commit, or empty for none
}

// The seeds of make test: at least one has TLS for all parts and etcd, and at least one has PostgreSQL.
const shortFrom, shortCount = 11, 2

func readSettings(t *testing.T) (s settings) {
	t.Helper()
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%q is not a number of a seed", text)
		}
		return n
	}
	s = settings{from: shortFrom, count: shortCount, length: 15 * time.Second, out: os.Getenv("FAULTS_OUT"), logs: os.Getenv("FAULTS_LOGS"), old: os.Getenv("FAULTS_OLD")}
	if text := os.Getenv("FAULTS_FROM"); text != "" {
		s.from = number(text)
	}
	if text := os.Getenv("FAULTS_COUNT"); text != "" {
		s.count = number(text)
	}
	if text := os.Getenv("FAULTS_LENGTH"); text != "" {
		var err error
		if s.length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range strings.Fields(os.Getenv("FAULTS_ONLY")) {
		s.only = append(s.only, number(text))
	}
	return s
}

// seeds returns the seeds to be played.
func (s settings) seeds() []uint64 {
	if s.only != nil {
		return s.only
	}
	list := make([]uint64, s.count)
	for i := range list {
		list[i] = s.from + uint64(i)
	}
	return list
}

func name(seed uint64) string { return fmt.Sprint("seed ", seed) }
