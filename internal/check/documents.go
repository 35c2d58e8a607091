package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var documents = stage{"documents", checkDocuments}

// checkDocuments holds the pages to what can be checked of them: links lead
// somewhere, the index names every page, and whole Go programs compile.
func checkDocuments(r *runner) error {
	pages, err := readPages(os.DirFS("."))
	if err != nil {
		return err
	}
	wrong := brokenLinks(os.DirFS("."), pages)
	wrong = append(wrong, notInIndex(pages)...)
	for _, p := range pages {
		for i, text := range p.programs {
			if err := r.compile(text); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: Go program %d: %v", p.path, i+1, err))
			}
		}
	}
	return several(r, wrong, "mistakes in the documents")
}

// A page is what the checks need of a Markdown file.
type page struct {
	path     string
	links    []string
	anchors  map[string]bool
	programs []string // blocks of Go that begin with a package clause
}

func readPages(fsys fs.FS) ([]page, error) {
	var pages []page
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." &&
			(d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		pages = append(pages, readPage(name, string(text)))
		return nil
	})
	return pages, err
}

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
)

func readPage(name, text string) page {
	p := page{path: name, anchors: map[string]bool{}}
	fence, block := "", []string(nil) // the language of the block we are in, and its lines
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			if inside && fence == "go" && len(block) > 0 &&
				strings.HasPrefix(block[0], "package ") {
				p.programs = append(p.programs, strings.Join(block, "\n")+"\n")
			}
			inside, fence, block = !inside, rest, nil
			continue
		}
		if inside {
			block = append(block, line)
			continue
		}
		if strings.HasPrefix(line, "#") {
			p.anchors[anchor(strings.TrimLeft(line, "# "))] = true
		}
		for _, m := range linkTarget.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""),
			-1) {
			p.links = append(p.links, m[1])
		}
	}
	return p
}

// anchor gives the name by which a heading can be linked to, as the usual
// viewers make it.
func anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '-' || c == '_':
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
}

func brokenLinks(fsys fs.FS, pages []page) []string {
	byPath := map[string]page{}
	for _, p := range pages {
		byPath[p.path] = p
	}
	var wrong []string
	for _, p := range pages {
		for _, link := range p.links {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			file, frag, _ := strings.Cut(link, "#")
			to := p.path
			if file != "" {
				to = path.Join(path.Dir(p.path), file)
			}
			if _, err := fs.Stat(fsys, to); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: link to %s leads nowhere", p.path, link))
			} else if target, isPage := byPath[to]; frag != "" && isPage && !target.anchors[frag] {
				wrong = append(wrong,
					fmt.Sprintf("%s: link to %s: no heading of that name", p.path, link))
			}
		}
	}
	return wrong
}

// notInIndex finds pages that a reader of docs/README.md would never see.
func notInIndex(pages []page) []string {
	const index = "docs/README.md"
	linked := map[string]bool{index: true}
	for _, p := range pages {
		if p.path == index {
			for _, link := range p.links {
				file, _, _ := strings.Cut(link, "#")
				linked[path.Join("docs", file)] = true
			}
		}
	}
	var wrong []string
	for _, p := range pages {
		if strings.HasPrefix(p.path, "docs/") && !linked[p.path] {
			wrong = append(wrong, fmt.Sprintf("%s: no link from %s", p.path, index))
		}
	}
	return wrong
}

// compile type-checks a Go program from a page as if it stood in the module.
func (r *runner) compile(text string) error {
	dir, err := os.MkdirTemp("", "coeval-docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	_, err = r.ask(roomy(), "go", "vet", file)
	return err
}
