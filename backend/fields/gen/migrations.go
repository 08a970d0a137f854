package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"adshard/backend/fields"
)

// byHand holds the newest schemas of SQLite and PostgreSQL that were written by hand.
var byHand = [2]int{13, 10}

// Newest returns the newest schemas of SQLite and PostgreSQL.
func (table) Newest() [2]int {
	newest := byHand
	for _, f := range fields.List {
		newest = [2]int{max(newest[0], f.Since[0]), max(newest[1], f.Since[1])}
	}
	return newest
}

// migrations returns the files that add the columns of those properties that the first schemas do not have.
func migrations() (map[string][]byte, error) {
	files := map[string][]byte{}
	for i, database := range []string{"sqlite", "postgres"} {
		t, err := template.ParseFS(templates, database+"_migration.tmpl")
		if err != nil {
			return nil, err
		}
		for version := 1; version <= (table{}).Newest()[i]; version++ {
			s := stepTo(version, i)
			if s.Tables == nil {
				continue
			}
			var b bytes.Buffer
			if err := t.Execute(&b, s); err != nil {
				return nil, err
			}
			files[fmt.Sprintf("backend/%s/migrations/%05d_%s.sql", database, version, s.name())] = b.Bytes()
		}
	}
	return files, nil
}

// step is a migration of a database to a version.
type step struct {
	version, database int
	Tables            []change
}

// change is the columns that a migration adds to a table.
type change struct {
	entity
	*step
	Added []field
}

func stepTo(version, database int) *step {
	s := &step{version: version, database: database}
	for _, e := range entities() {
		if added := e.some(func(f field) bool { return f.Since[database] == version }); added != nil {
			s.Tables = append(s.Tables, change{e, s, added})
		}
	}
	return s
}

// name returns the name of the file: the entities that get columns and, if only one column is added, that column.
func (s *step) name() string {
	var list []string
	for _, t := range s.Tables {
		list = append(list, string(t.Entity))
	}
	if len(s.Tables) == 1 && len(s.Tables[0].Added) == 1 {
		list = append(list, s.Tables[0].Added[0].SQL)
	}
	return strings.Join(list, "_")
}

// Title returns what is added, as text.
func (s *step) Title() string {
	var list []string
	for _, t := range s.Tables {
		var labels []string
		for _, f := range t.Added {
			labels = append(labels, f.Label)
		}
		list = append(list, strings.Join(labels, ", ")+" of "+t.Name())
	}
	return strings.Join(list, "; ")
}

// Table returns the name of the entity's table.
func (c change) Table() string { return tableOf(c.entity) }

// Names returns the names of the added columns.
func (c change) Names() string {
	var list []string
	for _, f := range c.Added {
		list = append(list, f.SQL)
	}
	return strings.Join(list, ", ")
}

// Type returns the type of a column.
func (c change) Type(f field) string {
	return f.Form([]string{"sqlite column", "pg column"}[c.database])
}

// Watched returns the columns of the entity's row, after the migration, whose change is a change of the entity. SQLite's
// languages of campaigns have a trigger of their own.
func (c change) Watched() string {
	list := []string{"name", "enabled"}
	if c.Held() {
		list = append(list, "hold")
	}
	if c.Entity == fields.Campaign {
		list = append(list, "budget_exhausted", "withheld")
	}
	for _, f := range c.Fields {
		if f.Since[c.database] <= c.version && (c.database > 0 || f.SQL != "languages") {
			list = append(list, f.SQL)
		}
	}
	return strings.Join(list, ", ")
}
