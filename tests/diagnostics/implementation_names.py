"""Words of the implementation, which no message may contain."""

import re

RAW_WORDS = re.compile(
    r"\bNone\b|NoneType|[a-z]Attribute\b|\w+Attr\b|\w+Attr\(|Tok\(|Token\(|Span\(|object at|<class|Traceback|xdsl|"
    r"\w__\w|__\w|\bOpResult\b|\bBlockArgument\b|base attribute|Unexpected attribute|\bUnion\[|\bConstraint|"
    r"\b(?:USES|RESULTS|BINDINGS|TYPES|WORD|LPAR|RPAR|LSQB|RSQB|LBRACE|RBRACE|OP_[A-Z_]+)\b"
)
