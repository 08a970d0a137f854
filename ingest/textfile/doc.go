// Package textfile reads tables and lines from text files as programs save
// them: UTF-8, UTF-16 or, as invalid text, anything else; commas, semicolons or
// tabs; quotes and line breaks within cells; pipes and standard input.
//
//	file, err := textfile.Open(ctx, name, os.Stdin)
//	text, err := textfile.Decode(file)
//	records := textfile.NewReader(text)
//	records.Separator = ','
//	cells, err := records.Next()
//
// A file of any size needs the memory of one record, which is bounded. What the
// cells mean is the caller's business.
package textfile
