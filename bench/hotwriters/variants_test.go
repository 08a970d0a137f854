package hotwriters

import (
	"path/filepath"
	"testing"
)

// TestEditsApply: the edits still fit the product's files.
func TestEditsApply(t *testing.T) {
	for technique, e := range without {
		text, err := e.edited(filepath.Join("../..", e.file))
		if err != nil || text == "" {
			t.Errorf("without %s: %v", technique, err)
		}
	}
	if _, err := (edit{"", "no such text", ""}).edited("variants.go"); err == nil {
		t.Error("a text that is not there was replaced")
	}
}

// TestValidate: what cannot be measured is refused.
func TestValidate(t *testing.T) {
	good := func() *Config {
		return &Config{Programs: []Program{{"adshard", "adshard"}}, Keywords: []int{20}, Rate: 1000, Others: 4, Replicas: 1,
			Turns: 5, Duration: 20e9, Patience: 60e9, Most: 10e9}
	}
	if err := good().Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no program":   func(c *Config) { c.Programs = nil },
		"no size":      func(c *Config) { c.Keywords = nil },
		"size":         func(c *Config) { c.Keywords = []int{20, 0} },
		"rate":         func(c *Config) { c.Rate = -1 },
		"others":       func(c *Config) { c.Others = 0 },
		"replicas":     func(c *Config) { c.Replicas = 9 },
		"turns":        func(c *Config) { c.Turns = 0 },
		"no duration":  func(c *Config) { c.Duration = 0 },
		"no patience":  func(c *Config) { c.Patience = 0 },
		"most":         func(c *Config) { c.Most = 0 },
		"a great rate": func(c *Config) { c.Rate = 1e9 },
	} {
		c := good()
		if spoil(c); c.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
