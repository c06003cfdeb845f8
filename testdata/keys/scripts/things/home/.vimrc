set nocompatible number signcolumn=yes cursorline laststatus=2 ruler showcmd wildmenu
set expandtab shiftwidth=4 autoindent hlsearch incsearch background=dark noswapfile viminfo=
set completeopt=menuone,noinsert
filetype plugin indent on
syntax on
set statusline=\ %{toupper(mode())}\ │\ %f%m\ %=\ %y\ │\ %l:%c\ │\ %p%%\ 
