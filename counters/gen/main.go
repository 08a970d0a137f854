// Gen generates counters for fields of structs from their tags. It takes the place of AutoShard's
// annotations and code transformation. Call it by go generate, in the directory of the file that
// has the directive:
//
//	//go:generate go run adshard/counters/gen
//
//	type Question struct {
//		ID        int64      `counter:"key"`
//		Votes     int64      `counter:"neutral=0 shards=10 fold=foldVotes update=voteUp,voteDown"`
//		Responses []Response `counter:"group shards=4"`
//	}
//
// One field of the struct has the tag key; it names the counters. The tags of the other fields
// consist of these words, separated by spaces:
//
//   - fold=F, update=U,…: functions of the same package, func(a, b V) V and func(V) V. Each update
//     becomes a method of the generated QuestionCounters: voteUp becomes VoteUp. The method updates
//     a shard, and the field of the struct passed to it.
//   - neutral=X: an expression without spaces; the default is the zero value of the field's type.
//   - shards=N: static, with N shards; shards=adaptive: adaptive; without shards: dynamic, as in
//     the paper.
//   - group: the field is a slice of entries, stored as a log; shards is the number of its parts.
//
// For question.go it writes question_counters.go and question_counters_test.go. The test checks the
// laws (counters.Check), and shows a counterexample if a fold or update breaks one.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"adshard/internal/outfile"
)

func main() {
	if err := run(os.Getenv("GOFILE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	if !strings.HasSuffix(file, ".go") || len(os.Args) > 1 {
		return errors.New("gen: write //go:generate go run adshard/counters/gen into the file of the struct, and run go generate")
	}
	text, test, err := generate(file)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(file, ".go") + "_counters"
	if err := code(base + ".go").WriteBytes(text); err != nil || test == nil {
		return err
	}
	return code(base + "_test.go").WriteBytes(test)
}

// code returns the output to a Go file. It may replace a file only if an earlier run generated it.
func code(path string) outfile.Output {
	return outfile.Output{Path: path, Kind: outfile.Kind{Name: "generated code", Is: outfile.Begins("// Code generated"), Mode: outfile.Public}}
}
