package stepvet

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// An allow is a comment that lets findings pass, because its author knows better and says why.
type allow struct {
	pos, end   token.Pos
	categories []Category
	used       []bool
	problem    error
	file       string
	line       int      // the line of code it speaks of
	whole      ast.Node // the function it speaks of, if it stands above one
}

const directive = "coeval:allow"

// parseAllow reads a comment such as
//
//	//coeval:allow mapiter,fuse -- only the number of keys is used
//
// and tells whether it is meant to be one. An error says what is wrong with it; the categories that
// could be read count even so, in order that one mistake is reported once.
func parseAllow(comment string) (categories []Category, meant bool, err error) {
	text, ok := strings.CutPrefix(comment, "//")
	if !ok {
		return nil, false, nil
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), directive)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return nil, false, nil
	}
	if !strings.HasPrefix(text, directive) {
		return nil, true,
			errors.New("write //" + directive +
				" without a space after the slashes, as Go wants its directives")
	}
	rest, _, _ = strings.Cut(rest, " //") // a remark on the directive itself
	list, reason, hasReason := strings.Cut(rest, "--")
	for word := range strings.FieldsFuncSeq(list,
		func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		c := Category(word)
		switch {
		case !allowable(c):
			err = fmt.Errorf("%q is not a category that can be allowed; there are %s", word,
				allowableNames())
		case !slices.Contains(categories, c):
			categories = append(categories, c)
		}
	}
	switch {
	case err != nil:
	case len(categories) == 0:
		err = fmt.Errorf(
			"say what is allowed: //%s CATEGORY -- REASON, where the categories are %s", directive,
			allowableNames())
	case !hasReason || strings.TrimSpace(reason) == "":
		err = fmt.Errorf("say why this is harmless: //%s %s -- REASON", directive,
			strings.TrimSpace(list))
	}
	return categories, true, err
}

// findAllows reads the package's comments.
func (u *unit) findAllows() {
	docs := map[*ast.CommentGroup]ast.Node{}
	for _, fn := range u.funcs {
		if fn.doc != nil {
			docs[fn.doc] = fn.decl
		}
	}
	for _, file := range u.pass.Files {
		first := len(u.allows)
		for _, group := range file.Comments {
			for _, c := range group.List {
				categories, meant, err := parseAllow(c.Text)
				if !meant {
					continue
				}
				at := u.pass.Fset.Position(c.Pos())
				u.allows = append(u.allows,
					&allow{pos: c.Pos(), end: c.End(), categories: categories,
						used:    make([]bool, len(categories)),
						problem: err, file: at.Filename, line: at.Line, whole: docs[group]})
			}
		}
		if len(u.allows) > first {
			u.aim(file, u.allows[first:])
		}
	}
}

// aim points each comment that stands on a line of its own at the next line that holds code.
func (u *unit) aim(file *ast.File, allows []*allow) {
	code := map[int]bool{}
	last := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File:
			return true
		case *ast.CommentGroup, *ast.Comment:
			return false
		}
		from, to := u.line(n.Pos()), u.line(n.End())
		code[from], code[to] = true, true
		last = max(last, to)
		return true
	})
	for _, a := range allows {
		for !code[a.line] && a.line < last {
			a.line++
		}
	}
}

// suppress takes away the findings that comments allow.
func (u *unit) suppress(fn *function) {
	if len(u.allows) == 0 {
		return
	}
	fn.found = slices.DeleteFunc(fn.found, func(f finding) bool {
		ok := false
		for _, a := range u.allows {
			if i := slices.Index(a.categories, f.category); i >= 0 && u.covers(a, &f) {
				a.used[i] = true
				ok = true
			}
		}
		return ok
	})
}

// covers tells whether a comment speaks of a finding: the line it is on, the line where its
// statement begins, or its function.
func (u *unit) covers(a *allow, f *finding) bool {
	if a.whole != nil {
		return a.whole.Pos() <= f.pos && f.pos < a.whole.End()
	}
	at := u.pass.Fset.Position(f.pos)
	if at.Filename != a.file {
		return false
	}
	return at.Line == a.line || u.line(u.statement(f)) == a.line
}

// statement is where the innermost statement around a finding begins.
func (u *unit) statement(f *finding) token.Pos {
	for _, file := range u.pass.Files {
		if f.pos < file.FileStart || f.pos >= file.FileEnd {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, f.pos, f.pos)
		for _, n := range path {
			switch n := n.(type) {
			case *ast.BlockStmt:
			case ast.Stmt:
				return n.Pos()
			case *ast.FuncDecl, *ast.ValueSpec:
				return n.Pos()
			}
		}
	}
	return f.pos
}

// reportAllows reports comments that are wrong or allow nothing, wherever they stand.
func (u *unit) reportAllows() {
	for _, a := range u.allows {
		problem := a.problem
		for i, used := range a.used {
			if problem == nil && !used && (a.categories[i] != Unchecked || u.verbose) {
				problem = fmt.Errorf("there is no finding of category %s here to allow; remove it",
					a.categories[i])
			}
		}
		if problem != nil {
			u.report(finding{pos: a.pos, end: a.end, category: Allow}, problem.Error())
		}
	}
}
