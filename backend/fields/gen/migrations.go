package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"adshard/backend/fields"
)

// The newest schemas of SQLite and PostgreSQL that were written by hand.
var byHand = [2]int{13, 10}

// Newest are the newest schemas.
func (table) Newest() [2]int {
	newest := byHand
	for _, f := range fields.List {
		newest = [2]int{max(newest[0], f.Since[0]), max(newest[1], f.Since[1])}
	}
	return newest
}

// migrations returns the files that add the columns of properties which the first schemas did not have.
func migrations() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range entities() {
		for _, f := range e.Fields {
			for i, database := range []string{"sqlite", "postgres"} {
				if f.Since[i] == 0 {
					continue
				}
				t, err := template.ParseFS(templates, database+"_migration.tmpl")
				if err != nil {
					return nil, err
				}
				var b bytes.Buffer
				if err := t.Execute(&b, added{e, f, i}); err != nil {
					return nil, err
				}
				files[fmt.Sprintf("backend/%s/migrations/%05d_%s_%s.sql", database, f.Since[i], e.Entity, f.SQL)] = b.Bytes()
			}
		}
	}
	return files, nil
}

// added is a property that a migration adds.
type added struct {
	entity
	field    field
	database int
}

// Table is that of the entity.
func (a added) Table() string { return tableOf(a.entity) }

// Label says what is added.
func (a added) Label() string { return a.field.Label }

// Column is the column's name, Type its type.
func (a added) Column() string { return a.field.SQL }

// Type is the type of the column.
func (a added) Type() string { return a.field.Form([]string{"sqlite column", "pg column"}[a.database]) }

// Watched are the columns of the entity's row whose changes are changes of it, when the migration has run. SQLite's languages
// of campaigns have a trigger of their own.
func (a added) Watched() string {
	list := []string{"name", "enabled"}
	if a.Held() {
		list = append(list, "hold")
	}
	if a.Entity == fields.Campaign {
		list = append(list, "budget_exhausted", "withheld")
	}
	for _, f := range a.Fields {
		if f.Since[a.database] <= a.field.Since[a.database] && (a.database > 0 || f.SQL != "languages") {
			list = append(list, f.SQL)
		}
	}
	return strings.Join(list, ", ")
}
