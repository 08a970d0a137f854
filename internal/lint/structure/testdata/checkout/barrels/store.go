// Package barrels is where a search begins.
package barrels

import (
	"slices"

	"adshard/barrels/kv"
	"adshard/search"
)

// Store answers.
type Store struct {
	kv   kv.KV
	hook func()
}

// Search is the beginning of the way.
func (s *Store) Search() error {
	search.Scan(s, func(int) {})
	search.Each(3, s.number)
	s.hooked()()
	list := []int{2, 1}
	slices.SortFunc(list, compare)
	return s.kv.Get()
}

// Take is called by search.
func (s *Store) Take(int) {}

func (s *Store) number(int) {}

func (s *Store) hooked() func() {
	s.hook = kv.Helper
	return s.hook
}

func compare(a, b int) int {
	kv.Helper()
	return a - b
}

func maintain() { search.Unused(nil) }
