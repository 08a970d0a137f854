package ingest

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"adshard/backend"
)

// fatalStore fails the test at any write.
type fatalStore struct {
	backend.Store
	t *testing.T
}

func (s fatalStore) Newest(context.Context) (backend.Position, error) {
	return backend.Position{Clock: 7}, nil
}

func (s fatalStore) Begin(context.Context) (backend.Tx, error) {
	return emptyTx{}, nil
}

// emptyTx finds nothing and panics at all other calls. Warnings about skipped rows need no more.
type emptyTx struct{ backend.Tx }

func (emptyTx) FindAdvertiser(context.Context, string) (uint64, error) { return 0, nil }

func (emptyTx) Held(context.Context, backend.HeldQuery, uint64, int, func(backend.Held) backend.Hold) (int, error) {
	return 0, nil
}

func (emptyTx) Rollback() error { return nil }

func runText(t *testing.T, store backend.Store, text string) Summary {
	t.Helper()
	sum, err := Run(context.Background(), store, []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestEveryIdentifyingColumn: a row with a cell in any column of the list is skipped as that kind, even if it would
// remove, pause or bid for its campaign or group. It is not rejected, and nothing is written.
func TestEveryIdentifyingColumn(t *testing.T) {
	for _, kind := range otherKinds {
		for _, column := range kind.columns {
			head := "Account,Campaign,Ad Group,Max CPC,Mobile Bid Modifier," + column + ",Status\n"
			sum := runText(t, fatalStore{t: t}, head+"A,C,,,,x,Removed\nA,C,G,1,-100,x,Paused\nA,C,G,bad,bad,x,bad\n,,,,,x,\n")
			want := Skipped{Kind: kind.name, Rows: 4}
			if len(sum.Skipped) != 1 || sum.Skipped[0] != want || sum.Rejected != 0 || sum.Rows != 4 {
				t.Errorf("%s: %+v", column, sum)
			}
			variant := strings.ToUpper(strings.ReplaceAll(column, " ", "_"))
			if stem, ok := strings.CutSuffix(column, " Status"); ok {
				variant = stem + " state"
			}
			if sum := runText(t, fatalStore{t: t}, "Account\tCampaign\t"+variant+"\nA\tC\tx\n"); len(sum.Skipped) != 1 {
				t.Errorf("%s: %+v", variant, sum)
			}
		}
	}
}

// TestIdentifyingColumnsAreDocumented: docs/import.md names each kind with its columns, in the order in which they
// are checked.
func TestIdentifyingColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, kind := range otherKinds {
		if len(kind.columns) > 0 {
			want.WriteString("| " + kind.name + " | " + ranged(kind.columns) + " |\n")
		}
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/import.md needs this table:\n%s", want.String())
	}
}

// ranged returns a list of columns; it names those that differ only in a number from 1 to n once, with their range.
func ranged(columns []string) string {
	var list []string
	most := make(map[string]string)
	for _, column := range columns {
		at := strings.LastIndexByte(column, ' ')
		name, number := column[:max(at, 0)], column[at+1:]
		if _, err := strconv.Atoi(number); err != nil {
			list = append(list, "`"+column+"`")
			continue
		}
		if most[name] == "" {
			list = append(list, name)
		}
		most[name] = number
	}
	for i, name := range list {
		if n := most[name]; n != "" {
			list[i] = "`" + name + " 1` … `" + n + "`"
		}
	}
	return strings.Join(list, ", ")
}
